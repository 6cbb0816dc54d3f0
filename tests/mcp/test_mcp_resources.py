#!/usr/bin/env python3
"""Resources and tools about the machine that need neither --daemon nor privileges, against what the kernel's files say."""
import json
import os
import pathlib
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))
from client import ANSWER_BYTES_MAX, WAIT_S, Client, RpcError, ToolError, wait_until  # noqa: E402
from live import case, expect, expect_between, main, once  # noqa: E402

LIVE_ONLY = {"control_event_tracking": {"action": "status"}, "control_stats_collection": {"action": "status"},
             "control_analyzers": {"action": "status"}, "analyze_waker_wakee": {}, "analyze_softirq": {},
             "get_analyzer_report": {"analyzer": "latency_tracker"}, "get_events": {}}
AGGREGATED = ("cpu", "llc", "node", "dsq", "process", "thread")


@once
def one_shot():
    """One server without --daemon for all cases that only ask."""
    return Client()


class Scheduler:
    """A stand-in for a scheduler that serves statistics: answers each request by its name, or never."""

    def __init__(self, folder, answers, hangs=False):
        self.path, self.answers, self.hangs = os.path.join(folder, "stats"), answers, hangs
        self.asked = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(8)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            peer, _ = self._listener.accept()
            threading.Thread(target=self._answer, args=(peer,), daemon=True).start()

    def _answer(self, peer):
        with peer, peer.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                request = json.loads(line)
                self.asked.append(request)
                if not self.hangs:
                    peer.sendall(json.dumps(self.answers[request["req"]]).encode() + b"\n")


def expect_tool_error(call, *words):
    """The call fails as a tool's result, and its text has the words."""
    try:
        call()
    except ToolError as error:
        for word in words:
            expect(word in str(error), f"no '{word}' in: {error}")
        return
    raise AssertionError("the tool did not fail")


@case
def the_scheduler_is_named_by_its_state():
    body = one_shot().read("scheduler://current")
    path = pathlib.Path("/sys/kernel/sched_ext/state")
    state = path.read_text(encoding="ascii").strip() if path.exists() else None
    expect(body["state"] == state, f"state {body['state']}, the kernel says {state}")
    expect(body["class"] == ("sched_ext" if state == "enabled" else "other"), f"class {body['class']}")
    expect(body["active"] == (state == "enabled"), f"active {body['active']}")


@case
def the_topology_is_that_of_sysfs():
    body = one_shot().read("topology://info")
    online = os.sysconf("SC_NPROCESSORS_ONLN")
    expect(body["nr_cpus"] == online == len(body["cpus"]), f"{body['nr_cpus']} CPUs, {online} are online")
    for cpu in body["cpus"]:
        folder = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu['id']}")
        nodes = [p.name for p in folder.glob("node*")]
        expect(not nodes or f"node{cpu['node_id']}" in nodes, f"CPU {cpu['id']}: node {cpu['node_id']}, not {nodes}")
    cores = {(folder / "topology/core_id").read_text() + (folder / "topology/physical_package_id").read_text()
             for folder in (pathlib.Path(f"/sys/devices/system/cpu/cpu{c['id']}") for c in body["cpus"])}
    expect(body["nr_cores"] == len(cores), f"{body['nr_cores']} cores, sysfs has {len(cores)}")


@case
def get_topology_has_every_key_and_pages():
    full = one_shot().call("get_topology", detail_level="full")
    expect(set(full["cpus"][0]) >= {"id", "core_id", "llc_id", "node_id", "min_freq", "max_freq", "base_freq",
                                    "cpu_capacity"}, f"keys of a CPU: {list(full['cpus'][0])}")
    spans = sorted(cpu for core in full["cores"] for cpu in core["span"])
    expect(spans == sorted(c["id"] for c in full["cpus"]), f"cores span {spans}")
    expect(set(full["llcs"][0]) == {"id", "kernel_id", "span"}, f"keys of a cache: {list(full['llcs'][0])}")
    expect(full["nodes"][0]["distance"][0] in (10, None), f"distance {full['nodes'][0]['distance']}")
    page = one_shot().call("get_topology", detail_level="full", limit=1, offset=1)
    expect([c["id"] for c in page["cpus"]] == [c["id"] for c in full["cpus"]][1:2], f"page {page['cpus']}")
    expect(page["truncated"], "a page is not reported as one")
    path = pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
    want = int(path.read_text()) if path.exists() else None
    expect(full["cpus"][0]["max_freq"] == want, f"max_freq {full['cpus'][0]['max_freq']}, not {want}")


@case
def memory_is_that_of_meminfo():
    body = one_shot().read("stats://system/memory")
    lines = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    info = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    expect(body["total_kb"] == info["MemTotal"], f"total {body['total_kb']}, not {info['MemTotal']}")
    expect(body["swap_total_kb"] == info["SwapTotal"], f"swap {body['swap_total_kb']}, not {info['SwapTotal']}")
    expect((body["swap_ratio"] is None) == (info["SwapTotal"] == 0), f"swap_ratio {body['swap_ratio']}")
    expect_between("free_ratio", body["free_ratio"], body["free_kb"] / info["MemTotal"] - 0.001,
                   body["free_kb"] / info["MemTotal"] + 0.001)


def network():
    """{name: bytes received} as the kernel reports."""
    lines = pathlib.Path("/proc/net/dev").read_text(encoding="ascii").splitlines()[2:]
    return {line.split(":")[0].strip(): int(line.split(":")[1].split()[0]) for line in lines}


@case
def network_counts_are_those_of_the_kernel():
    before = network()
    body = one_shot().read("stats://system/network?limit=64")
    after = network()
    for interface in body["interfaces"]:
        name = interface["name"]
        expect(name in before, f"no interface {name}")
        expect_between(f"{name} received", interface["recv_bytes"], before[name], after[name])
    expect(body["total_interfaces"] == len(before), f"{body['total_interfaces']} interfaces, not {len(before)}")


def ticks():
    """(active, idle) clock ticks of all CPUs since boot."""
    words = pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, words)
    return user + nice + system + irq + softirq + steal, idle + iowait


@case
def cpu_use_is_since_the_last_read_and_says_so():
    with Client() as mcp:
        first = mcp.read("stats://system/cpu")
        expect(first["since"] == "boot" and first["interval_ms"] is None, f"first: {first['since']}")
        inner = ticks()
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:  # keeps one CPU busy
            pass
        outer_active = ticks()[0] - inner[0]
        second = mcp.read("stats://system/cpu")
        expect(second["since"] == "last_read", f"second: {second['since']}")
        expect_between("interval", second["interval_ms"], 500, 60000)
        # Each CPU's times are rounded on their own.
        slack = 16 * os.cpu_count() + outer_active
        expect_between("active ticks", second["active_util"], outer_active - 16 * os.cpu_count(), outer_active + slack)
        expect(second["total_util"] < first["total_util"], "the second read is since boot, too")
        expect_between("idle", second["idle_pct"], 0, 100)


@case
def a_schedulers_own_statistics_come_through():
    answers = {"stats": {"errno": 0, "args": {"resp": {"busy": 42.5, "layers": {"one": 1}}}},
               "stats_meta": {"errno": 0, "args": {"resp": {"name": "LavdStats"}}}}
    with tempfile.TemporaryDirectory() as folder:
        scheduler = Scheduler(folder, answers)
        with Client("--stats-socket-path", scheduler.path) as mcp:
            body = mcp.read("stats://scheduler/raw")
            expect(body["stats"] == answers["stats"]["args"]["resp"], f"stats: {body['stats']}")
            expect(body["stats_meta"] == {"name": "LavdStats"}, f"meta: {body['stats_meta']}")
            expect([a["req"] for a in scheduler.asked] == ["stats", "stats_meta"], f"asked {scheduler.asked}")
            scheduler.answers["stats"] = {"errno": 22, "args": {"resp": "no such target"}}
            body = mcp.read("stats://scheduler/raw")
            expect(body["stats"]["error"] == "request_failed", f"refused: {body['stats']}")
            expect("no such target" in body["stats"]["message"], f"refused: {body['stats']}")
            scheduler.answers["stats"] = {"errno": 0, "args": {"resp": ["x" * 100] * 1000}}
            body = mcp.read("stats://scheduler/raw")
            expect(body["stats"]["error"] == "too_large", "a long answer is not cut")
            expect(mcp.last_size() < ANSWER_BYTES_MAX, f"{mcp.last_size()} bytes")
            body = mcp.read("stats://scheduler/raw?max_bytes=1000000")
            expect(len(body["stats"]) == 1000, "a long answer cannot be had")


def talk():
    """Some bytes over the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x" * 100, ("127.0.0.1", 9))


@case
def subscribers_hear_of_what_changes_at_the_rate_that_they_want():
    uris = [f"stats://system/{name}" for name in ("cpu", "memory", "network")]
    answers = {"stats": {"errno": 0, "args": {"resp": {"count": 1}}}, "stats_meta": {"errno": 0, "args": {"resp": {}}}}
    with tempfile.TemporaryDirectory() as folder:
        scheduler = Scheduler(folder, answers)
        with Client("--stats-socket-path", scheduler.path) as mcp:
            start = time.monotonic()
            for uri in ["stats://scheduler/raw", "scheduler://current", "topology://info"] + uris:
                mcp.subscribe(uri)
            for uri in uris:
                while not mcp.wait_for_update(uri, 3, timeout=0.2):
                    expect(time.monotonic() - start < WAIT_S, f"no updates of {uri}")
                    talk()
            for uri in uris:
                rate = (mcp.updates(uri) - 1) / (time.monotonic() - start)  # the first may come at once
                expect(rate <= 2, f"{rate:.2f} updates of {uri} a second")
            expect(mcp.updates("stats://scheduler/raw") == 0, "what stays the same is reported")
            scheduler.answers["stats"]["args"]["resp"]["count"] = 2
            expect(mcp.wait_for_update("stats://scheduler/raw"), "what changed is not reported")
            # What others read is not what subscribers have read: the first read is still that since boot.
            expect(mcp.read("stats://system/cpu")["since"] == "boot", "reading it changed it")
            for uri in uris:
                mcp.unsubscribe(uri)
            count = [mcp.updates(uri) for uri in uris]
            asked = len(scheduler.asked)
            expect(wait_until(lambda: len(scheduler.asked) >= asked + 4), "nothing is polled any more")
            expect([mcp.updates(uri) for uri in uris] == count, "updates after the end of a subscription")
            mcp.unsubscribe("stats://scheduler/raw")
            asked = len(scheduler.asked)
            time.sleep(1.5)
            expect(len(scheduler.asked) == asked, "the scheduler is asked without a subscriber")
            try:
                mcp.subscribe("stats://scheduler/raw?max_bytes=x")
                expect(False, "a query that makes no sense is subscribed to")
            except RpcError as error:
                expect(error.code == -32602 and "max_bytes" in error.message, f"{error}")


@case
def a_scheduler_that_hangs_delays_nothing_else():
    with tempfile.TemporaryDirectory() as folder:
        scheduler = Scheduler(folder, {}, hangs=True)
        with Client("--stats-socket-path", scheduler.path) as mcp:
            asked = mcp.send("resources/read", {"uri": "stats://scheduler/raw"})
            mcp.read("stats://system/memory")  # answered meanwhile
            body = json.loads(mcp.answer(asked)["result"]["contents"][0]["text"])
            expect(body["stats"]["error"] == "request_failed", f"hung: {body['stats']}")
            expect("300 ms" in body["stats"]["message"], f"hung: {body['stats']}")
    with Client("--stats-socket-path", "/nowhere") as mcp:
        body = mcp.read("stats://scheduler/raw")
        expect(body["stats"]["error"] == "not_connected", f"no scheduler: {body['stats']}")


@case
def tracepoints_are_those_of_the_kernel_page_by_page():
    mcp, offset, found, source = one_shot(), 0, {}, None
    while offset is not None:
        page = mcp.read(f"events://perf?limit=500&offset={offset}")
        if "error" in page:
            return  # neither tracefs nor BTF can be read; the body says so
        for group in page["subsystems"]:
            found.setdefault(group["subsystem"], []).extend(group["events"])
        source, total, offset = page["source"], page["total_events"], page["next_offset"]
    expect(sum(map(len, found.values())) == total, f"{sum(map(len, found.values()))} events, reported {total}")
    flat = {name for names in found.values() for name in names}
    expect({"sched_switch", "sched_waking", "softirq_entry"} <= flat, "well-known tracepoints are missing")
    if source == "tracefs":
        lines = pathlib.Path("/sys/kernel/tracing/available_events").read_text(encoding="ascii").splitlines()
        expect(total == len(lines), f"{total} tracepoints, tracefs has {len(lines)}")
    else:
        expect(list(found) == ["unknown"], f"subsystems from nowhere: {list(found)}")


@case
def functions_come_in_bounded_pages():
    mcp = one_shot()
    body = mcp.read("events://kprobe")
    if "error" in body:
        return
    expect(len(body["functions"]) == 100 and mcp.last_size() < ANSWER_BYTES_MAX, f"{mcp.last_size()} bytes")
    expect(body["truncated"] and body["next_offset"] == 100, f"next page: {body['next_offset']}")
    for _ in range(10):  # programs that come and go meanwhile are functions, too
        last = mcp.read(f"events://kprobe?limit=10&offset={body['count'] - 3}")
        if last["count"] == body["count"]:
            break
        body = last
    expect(len(last["functions"]) == 3 and last["next_offset"] is None, "the last page is not the last")
    listed = mcp.call("list_events", event_type="kprobe", filter="^SCHED", limit=1000)
    expect(listed["total_count"] > 0, "no function begins with sched")
    expect(all(name.lower().startswith("sched") for name in listed["events"]), "the filter is not applied")


@case
def list_events_filters_pages_and_refuses():
    mcp = one_shot()
    groups = mcp.call("list_event_subsystems", event_type="perf")["perf_subsystems"]
    if groups["count"] is None:
        return
    name = "sched" if "sched" in groups["subsystems"] else "unknown"
    whole = mcp.call("list_events", event_type="perf", subsystem=name, limit=1000)
    expect(whole["total_count"] == groups["event_counts"][name], "the counts differ")
    expect(whole["events"] == sorted(whole["events"]), "not sorted")
    page = mcp.call("list_events", event_type="perf", subsystem=name, limit=3, offset=2)
    expect(page["events"] == whole["events"][2:5] and page["has_more"], f"page: {page}")
    found = mcp.call("list_events", event_type="perf", subsystem=name, filter="Sched_Switch$")
    expect("sched_switch" in found["events"], f"filtered: {found['events']}")
    expect_tool_error(lambda: mcp.call("list_events", event_type="perf"), "subsystem")
    expect_tool_error(lambda: mcp.call("list_events", event_type="perf", subsystem="nonsense"), "nonsense",
                      groups["subsystems"][0])
    expect_tool_error(lambda: mcp.call("list_events", event_type="perf", subsystem=name, filter="("), "(")
    expect_tool_error(lambda: mcp.call("list_events", event_type="uprobe"), "kprobe, perf")
    expect_tool_error(lambda: mcp.call("list_events"), "event_type")


@case
def query_stats_lists_what_can_be_read():
    mcp = one_shot()
    everything = mcp.call("query_stats")
    expect(everything["description"] == "Available statistics resources:", everything["description"])
    listed = {uri for uri in mcp.resources() if uri.startswith("stats://")}
    expect({r["uri"] for r in everything["resources"]} == listed, "the list is not that of the resources")
    for kind in AGGREGATED:
        one = mcp.call("query_stats", stat_type=kind)
        expect(one["description"] == f"Statistics resources for {kind}:", one["description"])
        expect([r["uri"] for r in one["resources"]] == [f"stats://aggregated/{kind}"], f"{kind}: {one['resources']}")
    expect(len(mcp.call("query_stats", stat_type="scheduler")["resources"]) == 2, "scheduler")
    expect(len(mcp.call("query_stats", stat_type="system")["resources"]) == 3, "system")
    expect_tool_error(lambda: mcp.call("query_stats", stat_type="nonsense"), "thread")


@case
def live_data_without_the_daemon_is_refused_in_words():
    mcp = one_shot()
    for kind in AGGREGATED:
        body = mcp.read(f"stats://aggregated/{kind}")
        expect(body["error"] == "not_available" and "--daemon" in body["note"], f"{kind}: {body}")
    for tool, arguments in LIVE_ONLY.items():
        expect_tool_error(lambda t=tool, a=arguments: mcp.call(t, **a), "--daemon")
    for uri in ("events://stream", "control://events/status"):
        expect(uri not in mcp.resources(), f"{uri} is listed")
        try:
            mcp.read(uri)
        except RpcError as error:
            expect(error.code == -32002, f"{uri}: {error}")
        else:
            raise AssertionError(f"{uri} can be read")


@case
def a_query_that_makes_no_sense_is_refused():
    for uri in ("topology://info?limit=0", "events://kprobe?limit=x", "stats://scheduler/raw?max_bytes=-1"):
        try:
            one_shot().read(uri)
        except RpcError as error:
            expect(error.code == -32602, f"{uri}: {error}")
        else:
            raise AssertionError(f"{uri} was answered")


@case
def every_default_answer_is_short():
    mcp = one_shot()
    for uri in mcp.resources():
        mcp.read(uri)
        expect(mcp.last_size() < ANSWER_BYTES_MAX, f"{uri}: {mcp.last_size()} bytes")
    for tool, arguments in {"get_topology": {"detail_level": "full"}, "list_event_subsystems": {}, "query_stats": {},
                            "list_events": {"event_type": "kprobe"}}.items():
        mcp.call(tool, **arguments)
        expect(mcp.last_size() < ANSWER_BYTES_MAX, f"{tool}: {mcp.last_size()} bytes")


@case
def nothing_but_json_rpc_was_written():
    one_shot().close()


if __name__ == "__main__":
    main()
