#!/usr/bin/env python3
"""The slow service of docs/tutorial.md: slow-request.py [--seconds N] [--nice N].

A client asks a service every 25 ms for an answer that takes 4 ms of CPU time. Once per second a job compresses logs for a
while, in three processes. All of them are on one CPU, as in a small container. --nice lets the job be nice. At the end the
client prints how long its requests took. Needs no rights, and nothing remains.
"""
import argparse
import os
import pathlib
import signal
import socket
import time

REQUEST_S, EVERY_S = 0.004, 0.025
JOB_S, JOB_EVERY_S, JOB_PROCESSES = 0.4, 1.0, 3


def work_for(seconds):
    """CPU time of this process."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def child(name, work):
    """A process of that name."""
    pid = os.fork()
    if not pid:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pathlib.Path("/proc/self/comm").write_text(name, encoding="ascii")
        work()
        os._exit(0)
    return pid


def serve(connection):
    """Answers each request after some work."""
    while connection.recv(1):
        work_for(REQUEST_S)
        connection.send(b"!")


def compress_logs(nice):
    """A job that some timer starts once per second."""
    os.nice(nice)
    while True:
        end = time.monotonic() + JOB_S
        while time.monotonic() < end:
            pass
        time.sleep(JOB_EVERY_S - JOB_S)


def ask(connection, seconds):
    """How long each request took, in ms."""
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        connection.send(b"?")
        connection.recv(1)
        took.append((time.monotonic() - start) * 1000)
        time.sleep(max(0, EVERY_S - took[-1] / 1000))
    return sorted(took)


def main():
    """Starts all, asks, prints, ends all."""
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--nice", type=int, default=0)
    args = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[0]})
    ours, theirs = socket.socketpair()
    children = [child("service", lambda: serve(theirs))]
    children += [child("compress-logs", lambda: compress_logs(args.nice)) for _ in range(JOB_PROCESSES)]
    if len(cpus) > 1:
        os.sched_setaffinity(0, {cpus[1]})
    try:
        took = ask(ours, args.seconds)
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    print(f"{len(took)} requests: median {took[len(took) // 2]:.1f} ms, 99 % within {took[int(len(took) * 0.99)]:.1f} ms, "
          f"longest {took[-1]:.1f} ms")


main()
