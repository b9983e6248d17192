"""Where a program knocks: a socket in a folder that only the user can enter, and the token that lets it in.

Loads next to nothing: a program is started before anything else is loaded, and may knock before anybody answers.
"""

from __future__ import annotations

import _socket
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BACKLOG = 128
_LONGEST = 96
"""Bytes of a folder's path: a socket's has at most 103 on macOS, 107 on Linux."""
_REFUSED = (16, 28)
"""Lengths of addresses to which a program that is replayed cannot connect; see ``stash_child/seccomp.py``."""


class Door:
    """A socket that listens.

    Raises:
        OSError: There is no room for one.
    """

    def __init__(self) -> None:
        self.token = os.urandom(16).hex()
        self._listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        refusal = OSError("no temporary folder")
        for self._folder in _possible_folders():
            self.path = f"{self._folder}/{'s' if len(os.fsencode(self._folder)) + 5 not in _REFUSED else 'sock'}"
            try:
                os.mkdir(self._folder, 0o700)
                self._listener.bind(self.path)
                self._listener.listen(_BACKLOG)
            except OSError as error:
                refusal = error
                self._remove()
            else:
                return
        self._listener.close()
        raise refusal

    def take(self) -> int:
        """Hand over the descriptor that listens: it is the caller's to close from here on."""
        return self._listener.detach()

    def close(self) -> None:
        """Take the socket away. Closing twice does nothing."""
        self._listener.close()
        self._remove()

    def _remove(self) -> None:
        for remove, path in ((os.unlink, self.path), (os.rmdir, self._folder)):
            try:
                remove(path)
            except OSError:  # it is gone, or somebody put something there: nothing of ours is left
                continue


def _possible_folders() -> Iterator[str]:
    """Yield names of folders to be made, with paths short enough for a socket's, the likeliest first."""
    for base in _temporary_folders():
        folder = f"{base}/stashdbg-{os.urandom(4).hex()}"
        if len(os.fsencode(folder)) <= _LONGEST:
            yield folder


def _temporary_folders() -> Iterator[str]:
    given = os.environ.get("TMPDIR", "").rstrip("/")
    yield from (given, "/tmp", "/var/tmp") if os.path.isabs(given) else ("/tmp", "/var/tmp")
