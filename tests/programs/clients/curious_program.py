"""Reads as many lines of a stream as a file says: more on replay than when it was recorded."""

import sys
import urllib.request
from pathlib import Path

lines = int(Path(sys.argv[2]).read_text())
answer = urllib.request.urlopen(sys.argv[1] + "/sse")
try:
    print([answer.readline() for _ in range(lines)], flush=True)
except RuntimeError as error:
    print(type(error).__name__, error)
answer.close()
