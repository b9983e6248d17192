"""Everything that differs between two runs of a program, printed."""

import asyncio
import datetime as dt
import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor


class Moment(dt.datetime):
    """A subclass, as pydantic and freezegun make them."""


class Clocked:
    """Has a clock as an attribute, which a builtin function never binds."""

    now = time.time


def work(number):
    return number, time.time_ns(), random.Random().random()


async def task(number):
    await asyncio.sleep(0.004 * (3 - number))
    return await asyncio.to_thread(work, number) if hasattr(asyncio, "to_thread") else work(number)


async def several():
    return await asyncio.gather(*[task(number) for number in range(3)])


async def command():
    process = await asyncio.create_subprocess_exec("sh", "-c", "date +%N; cat; exit 5", stdin=-1, stdout=-1, stderr=-1)
    written = await process.communicate(b"in")
    killed = await asyncio.create_subprocess_exec("sleep", "30", stdout=-1)
    try:
        await asyncio.wait_for(killed.communicate(), 0.05)
    except asyncio.TimeoutError:  # noqa: UP041 - before Python 3.11 another one
        killed.kill()
    return written, process.returncode, await killed.wait()


def clocks():
    print(time.time(), time.monotonic_ns(), time.perf_counter(), time.strftime("%S"), time.ctime(), Clocked().now())
    east = dt.timezone(dt.timedelta(hours=2))
    print(dt.datetime.now(), dt.datetime.now(east), dt.date.today(), dt.datetime.today())
    print(type(Moment.now()), Moment.now(tz=east), isinstance(dt.datetime.now(), dt.datetime))


def chances():
    print(random.random(), random.Random().random(), random.Random(5).random(), random.SystemRandom().random())
    print(secrets.token_hex(4), uuid.uuid4(), uuid.uuid1(), os.urandom(3))


def lanes():
    with ThreadPoolExecutor(3) as pool:
        print(list(pool.map(work, range(6))))
    thread = threading.Thread(target=lambda: print(work(9)))
    thread.start()
    thread.join()
    print(asyncio.run(several()))


def commands():
    print(subprocess.run(["sh", "-c", "date +%N; cat"], input="hey", stdout=-1, text=True))
    print(subprocess.check_output(["date", "+%N"]), os.popen("date +%N").read())
    lines = subprocess.Popen("date +%N; date +%N >&2; exit 3", shell=True, stdout=-1, stderr=subprocess.STDOUT)
    print(list(lines.stdout), lines.wait(), os.system("exit 4"))
    talk = subprocess.Popen(["cat"], stdin=-1, stdout=-1, text=True, bufsize=1)
    for word in "ab":
        talk.stdin.write(word + "\n")
        print(talk.stdout.readline())
    talk.stdin.close()
    print(talk.wait(), len(subprocess.check_output(["head", "-c", "200000", "/dev/urandom"])))
    slow = subprocess.Popen(["sleep", "0.06"])
    polls = 0
    while slow.poll() is None:
        polls += 1
        time.sleep(0.02)
    print(polls, asyncio.run(command()))
    for argv in (["no-such-program"], ["false"]):
        try:
            subprocess.check_call(argv)
        except (OSError, subprocess.CalledProcessError) as error:
            print(type(error), error)
    try:
        subprocess.run(["sleep", "30"], timeout=0.05)
    except subprocess.TimeoutExpired as error:
        print(error)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        subprocess.run(["sleep", "20"])
    except KeyboardInterrupt:
        print("interrupted")
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(subprocess.check_output([sys.executable, "-c", "import time; print(time.time())"]))


def reads():
    print(input("name? "), repr(sys.stdin.readline()), repr(sys.stdin.buffer.read(4)), sys.stdin.read())
    try:
        input("more? ")
    except EOFError as error:
        print(error)


for part in (clocks, chances, lanes, commands, reads):
    part()
