"""What programs do that is hard on whoever stands in between."""

import http.cookiejar
import json
import multiprocessing
import os
import random
import subprocess
import sys
import time
import urllib.request

URL = sys.argv[1]


def work(number):
    return number, time.time_ns(), random.random(), os.getcwd(), os.environ["WHERE"]


def ask(opener, path, data=None):
    with opener.open(URL + path, data) as response:
        return response.read()


if __name__ == "__main__":
    os.makedirs("inner", exist_ok=True)
    os.chdir("inner")
    os.environ.clear()
    os.environ.update(WHERE="here", PATH="/usr/bin:/bin")
    sys.path[:] = [entry for entry in sys.path if "site-packages" not in entry]
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    for _ in range(2):
        print(json.loads(ask(opener, "/cookies")), sorted(cookie.name for cookie in jar))
    print(len(ask(opener, "/echo", b"x" * 10_000_000)))
    print(subprocess.run(["sh", "-c", "echo $STASHDBG_TOKEN $WHERE"], stdout=-1, text=True).stdout.split()[-1])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, range(2)))
    sys.stdout.flush()
    os.close(2)
    print(os.open("file", os.O_CREAT | os.O_WRONLY), time.time())
    sys.stdout.flush()
    os.close(1)
    os._exit(6)
