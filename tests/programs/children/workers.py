"""Processes of the program's own, made in every way there is."""

import multiprocessing
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.pool import ThreadPool


def work(queue, number):
    queue.put((number, time.time_ns(), random.random(), random.Random().random()))


def job(number):
    return number, time.time_ns()


def pair(one, two):
    return one, two, time.time_ns()


def main():
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        processes = [context.Process(target=work, args=(queue, number)) for number in range(2)]
        for process in processes:
            process.start()
        print(method, sorted(queue.get() for _ in processes), flush=True)
        for process in processes:
            process.join()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        print(list(pool.map(job, range(4))), flush=True)
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(pool.map(job, range(5)), sorted(pool.imap_unordered(job, range(3))), pool.apply(job, (7,)), flush=True)
        print(pool.starmap(pair, [(1, 2), (3, 4)]), flush=True)
    with ThreadPool(2) as pool:
        print(pool.map(job, range(4)), flush=True)
    pid = os.fork()
    if not pid:
        print("forked", time.time(), random.random(), flush=True)
        os._exit(7)
    print(os.waitpid(pid, 0)[1] >> 8, time.time(), random.random())


if __name__ == "__main__":
    main()
