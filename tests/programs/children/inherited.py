"""Commands that write to the program's own standard output and error."""

import asyncio
import os
import subprocess
import sys

print("buffered")
subprocess.run(["sh", "-c", "echo out; echo err >&2; date +%N"])
subprocess.run("echo explicit; date +%N >&2", shell=True, stdout=sys.stderr, stderr=sys.stdout)
print(subprocess.check_output("echo captured; date +%N >&2", shell=True))
print(os.system("echo $0 says; date +%N; exit 3"), os.system("kill -9 $$"))
print("flushed", flush=True)
started = subprocess.Popen(["sh", "-c", "read go; date +%N; echo late >&2"], stdin=-1)
print("started", flush=True)
started.stdin.write(b"go\n")
started.stdin.close()
print(started.wait())


async def waited():
    process = await asyncio.create_subprocess_exec("sh", "-c", "date +%N; exit 4")
    print(await process.wait(), flush=True)
    process = await asyncio.create_subprocess_shell("date +%N; cat", stdin=-1, stderr=subprocess.STDOUT)
    print(await process.communicate(b"hello\n"))


asyncio.run(waited())
subprocess.run(["head", "-c", "200000", "/dev/zero"])
subprocess.run("exec 1>&-; date +%N >&2", shell=True)
reading, writing = os.pipe()
saved = os.dup(1)
os.dup2(writing, 1)
subprocess.run(["date", "+%N"])
os.dup2(saved, 1)
os.close(writing)
print(len(os.read(reading, 100)), os.read(reading, 100))
os.close(2)
subprocess.run(["sh", "-c", "echo to nobody >&2"])
ends_with_us, held = os.pipe()
subprocess.Popen(["sh", "-c", "cat; echo outlives"], stdin=ends_with_us)
