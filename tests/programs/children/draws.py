"""Draws from the functions of ``random`` in many lanes at once, in whatever order they come to it."""

import asyncio
import concurrent.futures
import pickle
import random
import threading
import time

drawn = {}


def work(number):
    time.sleep(random.SystemRandom().random() / 100)
    drawn[number] = [random.randint(0, 10**9), random.gauss(0, 1), random.choice("abc")]
    return number, random.random()


async def task(number):
    await asyncio.sleep(random.SystemRandom().random() / 100)
    return number, random.uniform(0, 1)


async def tasks():
    return await asyncio.gather(*map(task, range(5)))


if __name__ == "__main__":
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(drawn.items()), random.random())
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        print(list(pool.map(work, range(9))))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(work, range(6))))
    print(asyncio.run(tasks()))
    assert pickle.loads(pickle.dumps(random.randint))(1, 1) == 1

    random.seed(42)
    chosen = []
    thread = threading.Thread(target=lambda: chosen.extend([random.random(), random.random()]))
    thread.start()
    thread.join()
    known = random.Random(42)
    assert chosen == [known.random(), known.random()] and random.random() == known.random()
    state = random.getstate()
    assert random.random() == (random.setstate(state), random.random())[1]
    random.seed()
    print(sorted(pool.submit(random.random).result() for pool in [concurrent.futures.ThreadPoolExecutor(1)]))
