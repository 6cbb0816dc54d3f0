#!/usr/bin/env python3
"""Triggers of the MCP server, and what it holds for a client, against workloads whose waits have a known cause."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"))
os.environ.setdefault("FAKE_SERVER", "")
from client import Client, RpcError, ToolError, wait_until  # noqa: E402
from http_client import http_server, request  # noqa: E402
from live import (WAIT_S, WORKLOAD, Disturbed, Meanwhile, NotHere, Work, case, cpu_cgroups, cpu_hierarchy, expect, main,  # noqa: E402
                  need_live, set_quota, switches_of)

ANSWER_BYTES = 4000  # of what happens now
SOON_S = 1.5         # from the wait to the notification, on a calm machine
LIVE_URIS = [f"stats://aggregated/{kind}" for kind in ("cpu", "llc", "node", "process", "thread")]


def daemon(*args):
    need_live()
    return Client("--daemon", *args)


def detached(holder, seconds=20):
    """Whether the server has let go of all BPF programs."""
    return wait_until(lambda: not Client.programs(holder), seconds)


class Sleeper:
    """A thread on CPU 1 that naps again and again; .tid."""

    def __init__(self, name):
        words = ["taskset", "-c", "1", WORKLOAD, "crowd", "nr=1", "us=5000", "ms=60000", f"name={name}"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        expect(wait_until(lambda: len(switches_of(self.process.pid)) >= 2, WAIT_S, 0.01), "no sleeper")
        self.tid, = set(switches_of(self.process.pid)) - {self.process.pid}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@case
def a_wait_is_told_at_once_and_reading_names_the_cause():
    name = f"late-{os.getpid()}"
    with daemon() as mcp, Sleeper(name) as late, subprocess.Popen(["sleep", "60"]) as quiet:
        try:
            told = mcp.call("live", action="trigger", when=f"stall>100ms,comm={name}")
            silent = mcp.call("live", action="trigger", when=f"stall>5ms,tid={quiet.pid}")
            mcp.subscribe(told["uri"])
            mcp.subscribe(silent["uri"])
            expect(mcp.read(told["uri"])["fired"] == 0, "fired before anything happened")
            meanwhile = Meanwhile()
            spinner = Work("spin", ms=800, cpu=1, fifo=1)
            start = time.monotonic()
            is_told = mcp.wait_for_update(told["uri"], timeout=WAIT_S)
            took = time.monotonic() - start
            first = mcp.read(told["uri"])["firings"][0]
            spinner.account()
            is_over = wait_until(lambda: mcp.read(told["uri"])["firings"][-1]["is_over"], WAIT_S)  # others may run before it
            last = mcp.read(told["uri"])
            answer = json.dumps(mcp.call("live"), separators=(",", ":"))
            thread = mcp.call("live", tid=late.tid)
            silence = mcp.read(silent["uri"])
            mcp.call("live", action="untrigger", id=told["id"])
            mcp.call("live", action="untrigger", id=silent["id"])
            updates = mcp.updates(silent["uri"])
        finally:
            quiet.kill()
    print(f"# told after {took:.2f} s; {len(answer)} bytes say what happens now")
    expect(is_told, "no update")
    if took > SOON_S and meanwhile.taken_ns() > 1e8:
        raise Disturbed(f"{meanwhile.taken_ns() / 1e6:.0f} ms were taken from the CPUs")
    expect(took < SOON_S, f"told after {took:.2f} s")
    expect(first["tid"] == late.tid and first["comm"] == name, f"{first}")
    expect(any("behind spinner" in line for line in first["sentences"]), f"{first['sentences']}")
    expect(first["causes"][0]["comm"] == "spinner", f"{first['causes']}")
    expect(is_over and "waited" in last["firings"][-1]["sentences"][0], f"{last}")
    expect(silence["fired"] == 0 and updates <= 1, f"a task that sleeps: {silence}, {updates} updates")
    expect(len(answer) <= ANSWER_BYTES, f"{len(answer)} bytes")
    expect(name in answer and "spinner" in answer, answer)
    expect(any("spinner" in line for line in thread["sentences"]), f"{thread}")


@case
def without_triggers_nothing_is_attached_and_no_time_is_used():
    with daemon() as mcp:
        made = [mcp.call("live", action="trigger", when="stall>1s")["id"] for _ in range(8)]
        try:
            mcp.call("live", action="trigger", when="stall>1s")
            expect(False, "a ninth trigger")
        except ToolError as error:
            expect("8 triggers" in str(error), str(error))
        expect(Client.programs(mcp), "nothing is attached")
        expect(len(mcp.call("live", action="list")["triggers"]) == 8, "not all are listed")
        expect(sum(uri.startswith("trigger://") for uri in mcp.resources()) == 8, "not all are resources")
        for one in made:
            mcp.call("live", action="untrigger", id=one)
        try:
            mcp.read(f"trigger://{made[0]}")
            expect(False, "a trigger that is gone was read")
        except RpcError as error:
            expect(error.code == -32002, f"{error}")
        mcp.call("live", action="start")
        expect(mcp.call("live", action="stop")["collecting"] is False, "still collected")
        expect(detached(mcp), "still attached")
        before = mcp.cpu_seconds()
        time.sleep(2)
        expect(mcp.cpu_seconds() - before <= 0.02, f"{mcp.cpu_seconds() - before} s of CPU time")


@case
def a_quota_and_a_sleep_are_told_with_their_reason():
    hierarchy = cpu_hierarchy()
    with daemon() as mcp, cpu_cgroups("trigger") as (group,):
        try:
            throttled = mcp.call("live", action="trigger", when="throttled>30ms,comm=hog*")["uri"]
        except ToolError as error:
            raise NotHere(str(error)) from error
        slept = mcp.call("live", action="trigger", when="sleep>300ms,comm=nap*")["uri"]
        set_quota(group)
        words = ["taskset", "-c", "0", "python3", "-c",
                 "open('/proc/self/comm','w').write('hog-q')\nimport time\nend=time.time()+2\nwhile time.time()<end: pass"]
        procs = pathlib.Path(group, "cgroup.procs" if not hierarchy else "tasks")
        hog = subprocess.Popen(words, preexec_fn=lambda: procs.write_text("0", encoding="ascii"))
        nap = subprocess.Popen(["python3", "-c", "open('/proc/self/comm','w').write('nap-1')\nimport time\nfor _ in range(4): time.sleep(.4)"])
        hog.wait()
        nap.wait()
        by_quota, by_nap = mcp.read(throttled), mcp.read(slept)
    expect(by_quota["fired"] >= 3, f"{by_quota}")
    expect(by_quota["firings"][0]["causes"][0]["kind"] == "throttled", f"{by_quota['firings'][0]}")
    expect(by_nap["fired"] >= 2, f"{by_nap}")
    expect("nanosleep" in json.dumps(by_nap["firings"][0]["sentences"]), f"{by_nap['firings'][0]}")


CLIENT = r"""
import os, sys, time
os.environ["SCHEDSCOPE"] = os.environ["FAKE_SERVER"] = ""
sys.path.insert(0, sys.argv[1])
from http_client import Server, request
server = Server(int(sys.argv[2]), 0, sys.argv[3])
server.hello()
def call(tool, **arguments):
    answer = server.send(request("tools/call", {"name": tool, "arguments": arguments}))[2]["result"]
    assert not answer.get("isError"), answer
    return answer["structuredContent"]
uri = call("live", action="trigger", when="stall>1s")["uri"]
call("live", action="start")
call("control_analyzers", action="start", analyzer="waker_wakee_analyzer")
call("start_perf_profiling", duration_secs=3600, max_samples=0)
server.send(request("resources/subscribe", {"uri": uri}))
stream = server.open_stream()
print(uri, flush=True)
time.sleep(600)
"""


def body_of(server, uri):
    return json.loads(server.send(request("resources/read", {"uri": uri}))[2]["result"]["contents"][0]["text"])


def is_live(server):
    """Programs are attached, or an analyzer will have them attached: the one is no sign of the other while events change."""
    status = body_of(server, "control://events/status")
    return status["event_tracking"]["programs_attached"] or True in status["analyzers"].values()


@case
def what_a_killed_client_of_http_began_ends():
    need_live()
    with http_server("127.0.0.1:0", "--daemon", "--http-timeout", "2") as server:
        words = [sys.executable, "-c", CLIENT, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"), str(server.port),
                 server.token_file]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as client:
            uri = client.stdout.readline().strip()
            expect(uri.startswith("trigger://") and Client.programs(server), f"{uri}: nothing is attached")
            server.hello()
            listed = server.send(request("resources/list"))[2]["result"]["resources"]
            expect(not [one for one in listed if one["uri"] == uri], "another client is told of the trigger")
            client.send_signal(signal.SIGKILL)
        start = time.monotonic()
        expect(wait_until(lambda: not is_live(server), 20, 0.3), "programs are still attached, or an analyzer goes on")
        print(f"# {time.monotonic() - start:.1f} s")
        expect(body_of(server, "profiling://perf/status")["status"] == "Stopped", "the profiler goes on")
        expect("error" in server.send(request("resources/read", {"uri": uri}))[2], "the trigger is still there")


@case
def what_a_killed_client_of_stdio_began_ends():
    need_live()
    code = ("import os,sys,time; os.environ['SCHEDSCOPE']=sys.argv[2]; sys.path.insert(0,sys.argv[1]); from client import Client\n"
            "mcp=Client('--daemon'); mcp.call('live',action='trigger',when='stall>1s'); print(mcp.pid,flush=True); time.sleep(600)")
    words = [sys.executable, "-c", code, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"), os.environ["SCHEDSCOPE"]]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as client:
        pid = int(client.stdout.readline())
        client.send_signal(signal.SIGKILL)
    expect(wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), 20), "the server goes on without its client")


BITS_OF_ALL = """
import socket, time
keep, s = [], socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(20):
    keep.append(bytearray(1 << 20))
    s.sendto(b"x", ("127.0.0.1", 9))
    time.sleep(.1)
"""


@case
def every_resource_fires_or_is_constant():
    """Under a load that does a little of everything; what changes with the machine only is named by its description."""
    with daemon() as mcp:
        mcp.call("start_perf_profiling", duration_secs=20)
        trigger = mcp.call("live", action="trigger", when="slice>1us")["uri"]
        uris = list(mcp.resources())
        for uri in uris:
            mcp.subscribe(uri)
        load = Work("pingpong", rounds=20000)
        files = subprocess.Popen([sys.executable, "-c", BITS_OF_ALL])
        mcp.call("control_stats_collection", action="start")
        constant = {uri for uri, one in mcp.resources().items() if "changes only" in one["description"]}
        firing = [uri for uri in uris if uri not in constant and uri != trigger] + [trigger]
        late = [uri for uri in firing if not mcp.wait_for_update(uri, timeout=8)]
        files.wait()
        load.kill()
        mcp.call("control_stats_collection", action="stop")
    expect(not late, f"no update of {late}")
    expect({"topology://info", "events://kprobe", "scheduler://current"} <= constant, f"constant: {constant}")
    expect(not constant & set(LIVE_URIS), f"constant: {constant}")


if __name__ == "__main__":
    main(at_once=2)
