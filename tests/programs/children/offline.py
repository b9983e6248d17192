"""Ways to the network and to other programs that no hook covers."""

import ctypes
import os
import socket
import struct
import sys
import threading

ADDRESS = ("127.0.0.1", int(sys.argv[1]))


def in_c():
    libc = ctypes.CDLL(None, use_errno=True)
    with socket.socket() as opened:
        address = (
            struct.pack("H", socket.AF_INET) + struct.pack("!H", ADDRESS[1]) + socket.inet_aton(ADDRESS[0]) + bytes(8)
        )
        if libc.connect(opened.fileno(), address, 16):
            raise OSError(ctypes.get_errno(), "connect")


def local():
    here, there = socket.socketpair()
    here.send(b"x")
    print(there.recv(1))
    here.close()
    there.close()


def run(name, way):
    try:
        print(name, way() or "done")
    except OSError as error:
        print(name, type(error).__name__, error.errno)


run("connect", lambda: socket.create_connection(ADDRESS).close())
run("again", lambda: socket.create_connection(ADDRESS).close())
run("c", in_c)
run("local", local)
run("lookup", lambda: socket.getaddrinfo("localhost", 1) and None)
if len(sys.argv) > 2:
    run("name", lambda: socket.getaddrinfo("stashdbg.example", 1) and None)
run("start", lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0) and None)
thread = threading.Thread(target=run, args=("thread", in_c))
thread.start()
thread.join()
