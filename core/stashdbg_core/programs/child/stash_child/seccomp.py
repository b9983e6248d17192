"""A filter in the kernel that refuses network connections, whatever code makes them (Linux).

It can look at the numbers a system call is given, not at what they point to: an address for IPv4 has 16 bytes and one
for IPv6 has 28, and by this length ``connect`` and ``sendto`` are refused with ``ENETUNREACH``. Local sockets, whose
addresses have other lengths, go on working. It is inherited by threads and processes, and cannot be taken back.
"""

from __future__ import annotations

import struct
import sys

_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _GO, _EQUALS, _RETURN = 0x20, 0x05, 0x15, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_UNREACHABLE = 101
_ARCHITECTURES = {"x86_64": (0xC000003E, 42, 44), "aarch64": (0xC00000B7, 203, 206)}
"""Audit number, and the numbers of ``connect`` and ``sendto``."""
_NUMBER, _ARCHITECTURE = 0, 4
_LENGTHS = (16, 28)


def refuse_connections() -> str | None:
    """Refuse them from here on; return None, or why it cannot be done here."""
    if not sys.platform.startswith("linux"):
        return "there is no seccomp on %s" % sys.platform
    import os

    machine = os.uname().machine
    if machine not in _ARCHITECTURES or sys.maxsize < 2**32:
        return "no filter is known for %s" % machine
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        program = _program(*_ARCHITECTURES[machine])
        held = ctypes.create_string_buffer(program, len(program))
        head = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(held)))
        if libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(_SET_SECCOMP, _FILTER, head, 0, 0):
            return "prctl says %s" % os.strerror(ctypes.get_errno())
    except (ImportError, OSError, AttributeError) as error:
        return "ctypes does not work here: %s" % error
    return None


def _program(architecture: int, connect: int, sendto: int) -> bytes:
    """Return the filter: ``connect``'s length is its third argument, ``sendto``'s its sixth.

    A step is an instruction, how many steps to leap if it holds and if it does not, and its operand.
    """

    def argument(index: int) -> int:
        return 16 + 8 * index

    return b"".join(
        struct.pack("HBBI", *step)
        for step in (
            (_LOAD, 0, 0, _ARCHITECTURE),
            (_EQUALS, 0, 8, architecture),
            (_LOAD, 0, 0, _NUMBER),
            (_EQUALS, 1, 0, connect),
            (_EQUALS, 2, 5, sendto),
            (_LOAD, 0, 0, argument(2)),
            (_GO, 0, 0, 1),
            (_LOAD, 0, 0, argument(5)),
            (_EQUALS, 2, 0, _LENGTHS[0]),
            (_EQUALS, 1, 0, _LENGTHS[1]),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _ERROR | _UNREACHABLE),
        )
    )
