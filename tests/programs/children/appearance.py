"""What a program sees of its interpreter."""

import builtins
import inspect
import os
import pickle
import site
import sys
import threading
import time
import warnings

print(sys.argv, sys.path, sys.flags, __name__, sorted(set(vars(sys.modules["__main__"]))))
print(sorted(name for name in os.environ if not name.startswith("_")), os.environ.get("PYTHONPATH"))
print(
    warnings.filters,
    [thread.name for thread in threading.enumerate()],
    getattr(sys, "customised", None),
    site.ENABLE_USER_SITE,
)
print(sys.modules.get("sitecustomize"), sys.excepthook is sys.__excepthook__, sys.displayhook, sys.gettrace())
with open(__file__) as opened:
    print(opened.fileno(), inspect.signature(builtins.open).parameters.keys())
print(pickle.loads(pickle.dumps(time.time)) is time.time, repr(time.monotonic), time.time.__name__)
os.closerange(3, 2000)
print(time.time() > 1, sys.stdin.name, sys.stdin.encoding, sys.stdin.errors, sys.stdin.isatty(), sys.stdin.fileno())
