"""Record what an AI-agent run touches, replay it deterministically, and debug it.

Every public name is listed in ``__all__`` and loaded when it is first used: importing this package loads nothing else,
reads no environment and opens no file.
"""

from __future__ import annotations

__version__: str

TYPE_CHECKING = False  # as ``typing`` has it, which takes longer to load than a program to start
if TYPE_CHECKING:
    from stashdbg_core.calls import DROP, CallOptions, RedactContext
    from stashdbg_core.diff.recordings import diff_recordings
    from stashdbg_core.diff.result import DiffResult
    from stashdbg_core.errors import ErrorCode, StashError, is_stash_error
    from stashdbg_core.fork.branch import fork
    from stashdbg_core.interceptors.clock import DeterministicClock, create_deterministic_clock
    from stashdbg_core.interceptors.mcp import intercept_mcp_client, record_mcp_tool
    from stashdbg_core.interceptors.randomness import SeededRandom, create_seeded_random
    from stashdbg_core.interceptors.wrap import wrap, wrapped
    from stashdbg_core.model import RecordedEvent, Recording
    from stashdbg_core.record.losses import RecordingLossWarning
    from stashdbg_core.record.recorder import Recorder
    from stashdbg_core.redact.redactor import Redactor
    from stashdbg_core.replay.divergence import Divergence, DivergenceReport
    from stashdbg_core.replay.replayer import Replayer
    from stashdbg_core.seal.make import seal_recording
    from stashdbg_core.seal.result import VerifyResult
    from stashdbg_core.seal.seal_file import Seal
    from stashdbg_core.seal.verify import verify_recording
    from stashdbg_core.stash import Stash, create_recorder, create_replayer, create_stash, load_stash
    from stashdbg_core.store.blob_store import BlobStore
    from stashdbg_core.store.limits import Limits
    from stashdbg_core.store.open import open_recording
    from stashdbg_core.store.stats import RecordingStats, recording_stats
    from stashdbg_core.store.writer import decode_recording, encode_recording, write_recording
    from stashdbg_core.values.exceptions import RecordedError
    from stashdbg_core.values.registry import TypeRegistry

__all__ = [
    "DROP",
    "BlobStore",
    "CallOptions",
    "DeterministicClock",
    "DiffResult",
    "Divergence",
    "DivergenceReport",
    "ErrorCode",
    "Limits",
    "RecordedError",
    "RecordedEvent",
    "Recorder",
    "Recording",
    "RecordingLossWarning",
    "RecordingStats",
    "RedactContext",
    "Redactor",
    "Replayer",
    "Seal",
    "SeededRandom",
    "Stash",
    "StashError",
    "TypeRegistry",
    "VerifyResult",
    "create_deterministic_clock",
    "create_recorder",
    "create_replayer",
    "create_seeded_random",
    "create_stash",
    "decode_recording",
    "diff_recordings",
    "encode_recording",
    "fork",
    "intercept_mcp_client",
    "is_stash_error",
    "load_stash",
    "open_recording",
    "record_mcp_tool",
    "recording_stats",
    "seal_recording",
    "verify_recording",
    "wrap",
    "wrapped",
    "write_recording",
]

_HOMES = {
    "calls": ("DROP", "CallOptions", "RedactContext"),
    "diff.recordings": ("diff_recordings",),
    "diff.result": ("DiffResult",),
    "errors": ("ErrorCode", "StashError", "is_stash_error"),
    "fork.branch": ("fork",),
    "interceptors.clock": ("DeterministicClock", "create_deterministic_clock"),
    "interceptors.mcp": ("intercept_mcp_client", "record_mcp_tool"),
    "interceptors.randomness": ("SeededRandom", "create_seeded_random"),
    "interceptors.wrap": ("wrap", "wrapped"),
    "model": ("RecordedEvent", "Recording"),
    "record.losses": ("RecordingLossWarning",),
    "record.recorder": ("Recorder",),
    "redact.redactor": ("Redactor",),
    "replay.divergence": ("Divergence", "DivergenceReport"),
    "replay.replayer": ("Replayer",),
    "seal.make": ("seal_recording",),
    "seal.result": ("VerifyResult",),
    "seal.seal_file": ("Seal",),
    "seal.verify": ("verify_recording",),
    "stash": ("Stash", "create_recorder", "create_replayer", "create_stash", "load_stash"),
    "store.blob_store": ("BlobStore",),
    "store.limits": ("Limits",),
    "store.open": ("open_recording",),
    "store.stats": ("RecordingStats", "recording_stats"),
    "store.writer": ("decode_recording", "encode_recording", "write_recording"),
    "values.exceptions": ("RecordedError",),
    "values.registry": ("TypeRegistry",),
}
_HOME_OF = {name: f"stashdbg_core.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    home = "stashdbg_core" if name == "__version__" else _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
