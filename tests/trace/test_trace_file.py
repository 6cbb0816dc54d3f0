#!/usr/bin/env python3
"""Whole traces, read by a decoder of its own. Prints TAP."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from decode import Trace, check_chains, check_names, check_whole_chains

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402

DEMO = os.environ["WRITE_DEMO"]
T0 = 1_000_000_000
CASES = []


def case(function):
    CASES.append(function)
    return function


def write(*args):
    """(bytes of the trace, what the program printed)"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace"
        out = subprocess.run([DEMO, args[0], path, *args[1:]], check=True, capture_output=True, timeout=60)
        return path.read_bytes(), out.stdout


def story(*args):
    return Trace(write("story", *args)[0])


def named(trace, name):
    """Events of that name on all CPUs, without time and flags."""
    return [{key[4:] if key.startswith("arg_") else key + "_": value for key, value in event.items()
             if key.startswith("arg_") or key == "pid"}
            for cpu in sorted(trace.events) for event in trace.events[cpu] if event["name"] == name]


def instants(trace, category):
    return [event for event in trace.track_events if event["category"] == category]


@case
def the_start_has_recorder_time_and_machine():
    trace = story()
    assert trace.clocks[0] == {6: T0, 3: 900, 1: 800, 5: 700}
    assert trace.system["uts"] == {1: "Linux", 3: "6.1.0", 4: "x"} and trace.system[8] == 2
    assert trace.uuid == {1: 1, 2: 2}
    assert trace.attributes["tool"] == "schedscope" and trace.attributes["tool_version"] == "0.1"
    assert trace.attributes["command_line"] == "schedscope record"
    assert trace.attributes["scheduler"] == "EEVDF"
    assert trace.config == ["sched/sched_switch", "sched/sched_waking"]
    assert trace.cpu_info == [{"khz": [1000000, 2000000], "capacity": 1024},
                              {"khz": [1000000, 2000000], "capacity": 512}]


@case
def switches_are_rows_once_the_running_task_is_known():
    trace = story()
    full = [(cpu, event["ts"] - T0) for cpu in (0, 1) for event in trace.events[cpu]
            if event["name"] == "sched_switch"]
    # The first on each CPU, after the loss, after the break, after exec took another tid, at the time of one in full.
    assert full == [(0, 10), (1, 11), (1, 170), (1, 190), (1, 210), (1, 210)], full
    rows = [(cpu, event["ts"] - T0, event["prev_state"], event["next"], event["comm"])
            for cpu in (0, 1) for event in trace.events[cpu] if event["name"] == "switch"]
    assert rows == [(0, 40, 1, 0, "swapper/0"), (0, 70, 0, 200, "server"), (0, 90, 16, 0, "swapper/0"),
                    (1, 30, 0, 101, "thread"), (1, 50, 256, 100, "server"), (1, 180, 1, 0, "swapper/1"),
                    (1, 200, 0, 101, "thread")], rows


@case
def wakings_are_rows_once_the_waker_is_known():
    trace = story()
    assert named(trace, "sched_waking") == [{"pid_": 77, "pid": 100, "comm": "server", "prio": 120,
                                             "target_cpu": 1, "interrupt": 0}]
    rows = [event for event in trace.events[0] if event["name"] == "waking"]
    assert [(row["ts"] - T0, row["tid"], row["target"], row["prio"], row["flags"], row["interrupt"])
            for row in rows] == [(20, 101, 1, 120, 0, 0)]


@case
def every_switch_out_is_of_the_one_switched_in():
    trace = story()
    # 101 at 190, and the exec that changed the tid.
    assert check_chains(trace, False) == 2
    assert trace.attributes["broken_switches"] == 1


@case
def no_slice_is_left_open_where_a_switch_was_not_seen():
    """Each has switches that were not recorded, and says so: readers that do not know breaks show no task for too long."""
    trace = story()
    check_whole_chains(trace)
    inferred = [(cpu, event["ts"] - T0, event["arg_prev_pid"], event["arg_next_pid"]) for cpu in sorted(trace.inferred)
                for event in trace.inferred[cpu]]
    assert inferred, "the story has breaks"
    assert all(event["flags"] == 0x100 for events in trace.inferred.values() for event in events)


@case
def late_records_are_moved_and_counted():
    trace = story()
    assert trace.events[1][-1]["ts"] == T0 + 210
    assert trace.attributes["late_timestamps"] == 1


@case
def all_have_names():
    trace = story()
    check_names(trace)
    assert trace.comms[555] == {"<tid 555>"}
    assert trace.threads[666]["name"] == "<tid 666>" and trace.threads[666]["tgid"] is None
    assert trace.threads[300]["name"] == "\ufffd"
    assert trace.comms[0] == {"swapper/0", "swapper/1"}


@case
def the_tree_has_processes_and_their_threads():
    trace = story()
    assert trace.processes[100]["cmdline"] == ["/bin/server", "--port"]
    assert trace.processes[100]["ppid"] == 1 and not trace.processes[100]["is_comm"]
    assert trace.threads[101] == {"name": "thread", "tgid": 100, "ts": T0 + 20}
    assert trace.threads[102] == {"name": "pool", "tgid": 100, "ts": T0 + 63}
    assert 102 not in trace.processes
    # Server forked it, then it had another name and program, then another task took its tid.
    assert trace.renames[200] == [(T0 + 61, "server"), (T0 + 75, "child"), (T0 + 76, "child"),
                                  (T0 + 98, "again")]
    assert trace.processes[200]["cmdline"] == ["again"] and trace.processes[200]["is_comm"]
    assert trace.processes[200]["ppid"] == 2
    assert trace.threads[100]["name"] == "fresh"


@case
def lives_are_recorded():
    trace = story()
    assert named(trace, "task_newtask") == [
        {"pid_": 100, "pid": 200, "comm": "server", "clone_flags": 0},
        {"pid_": 100, "pid": 102, "comm": "pool", "clone_flags": 0x10000},
        {"pid_": 2, "pid": 200, "comm": "again", "clone_flags": 0}]
    assert named(trace, "sched_wakeup_new") == [{"pid_": 100, "pid": 200, "comm": "server", "prio": 120,
                                                 "target_cpu": 0, "interrupt": 0}]
    assert named(trace, "task_rename") == [{"pid_": 200, "pid": 200, "oldcomm": "server", "newcomm": "child"}]
    assert named(trace, "sched_process_exec") == [
        {"pid_": 200, "filename": "child", "pid": 200, "old_pid": 200},
        {"pid_": 100, "filename": "fresh", "pid": 100, "old_pid": 101}]
    assert named(trace, "sched_process_exit") == [{"pid_": 200, "comm": "child", "pid": 200, "tgid": 200,
                                                   "prio": 120}]
    assert named(trace, "sched_process_free") == [{"pid_": 0, "comm": "child", "pid": 200, "prio": 120}]
    assert named(trace, "sched_process_wait") == [{"pid_": 100, "comm": "server", "pid": 100, "prio": 120}]
    assert named(trace, "sched_process_hang") == [{"pid_": 100, "comm": "\ufffd", "pid": 300}]
    assert named(trace, "sched_wakeup") == [{"pid_": 100, "comm": "thread", "pid": 101, "prio": -1,
                                             "target_cpu": 1, "interrupt": 0}]  # by a task
    assert named(trace, "sched_migrate_task") == [{"pid_": 100, "comm": "thread", "pid": 101, "prio": 120,
                                                   "orig_cpu": 1, "dest_cpu": 0}]


@case
def interrupts_are_reported():
    trace = story()
    assert named(trace, "irq_handler_entry") == [{"pid_": 0, "irq": 9, "name": "eth0"}]
    assert named(trace, "irq_handler_exit") == [{"pid_": 0, "irq": 9, "ret": 1}]
    assert named(trace, "softirq_entry") == named(trace, "softirq_exit") == [{"pid_": 666, "vec": 3}]
    assert named(trace, "ipi_raise") == [{"pid_": 0, "target_cpus": 8, "reason": "kernel_ffff0001"}]
    assert named(trace, "ipi_entry") == named(trace, "ipi_exit") == [{"pid_": 100, "reason": "resched"}]
    far, several = instants(trace, "IPI_SEND")
    assert far["name"] == "IPI_SEND:single" and far["args"] == {"cpu": 0, "target_cpu": 40}
    assert far["track"]["name"] == "swapper/0" and far["ts"] == T0 + 105
    assert several["name"] == "IPI_SEND:multi" and several["args"] == {"cpu": 1}
    assert several["track"]["thread"] == (100, 100)


@case
def work_has_the_names_of_functions():
    trace = story()
    iid, = trace.interned[2]["symbols"]
    assert trace.interned[2]["symbols"][iid] == "kernel_ffff0002"
    assert named(trace, "workqueue_execute_start") == [{"pid_": 100, "work": 1, "function": iid},
                                                       {"pid_": 100, "work": 2, "function": 0xffff0999}]
    assert named(trace, "workqueue_execute_end") == [{"pid_": 100, "work": 1, "function": iid}]


@case
def cpus_are_reported():
    trace = story()
    assert named(trace, "cpu_idle") == [{"pid_": 0, "state": 2**32 - 1, "cpu_id": 0}]
    assert named(trace, "cpu_frequency") == [{"pid_": 0, "state": 1500000, "cpu_id": 1}]
    assert named(trace, "cpuhp_enter") == [{"pid_": 0, "cpu": 1, "idx": 5, "target": 0}]
    assert named(trace, "cpuhp_exit") == [{"pid_": 0, "cpu": 1, "idx": 5, "ret": -16, "state": 4}]
    assert named(trace, "gpu_mem_total") == [{"pid_": 0, "gpu_id": 1, "pid": 100, "size": 4096}]
    pressure, = [event for event in trace.track_events if event["track"]["name"] == "hw pressure CPU 1"]
    assert pressure["type"] == "counter" and pressure["value"] == 100


@case
def probes_are_events_of_the_kernel_or_of_the_thread():
    trace = story()
    assert named(trace, "kprobe_event") == [{"pid_": 101, "name": "do_exit", "type": 3}]
    hit, = instants(trace, "uprobe")
    assert hit["name"] == "malloc" and hit["track"]["thread"] == (100, 101)
    assert hit["args"] == {"cpu": 1, "ip": 0x1234}
    unknown, = instants(trace, "probe")
    assert unknown["name"] == "probe 3" and unknown["track"]["name"] == "<tid 555>"


@case
def counters_of_a_slice_have_the_names_of_wprof():
    trace = story()
    counters, = instants(trace, "PMU")
    assert counters["args"] == {"cpu": 1, "pmu:cycles": 1000.0, "pmu:instructions": 2000.0, "pmu:3": 3.0}
    parent = trace.tracks[counters["track"]["parent"]]
    assert counters["track"]["name"] == "pmu" and parent["thread"] == (100, 101)


@case
def stays_in_queues_are_slices_as_wprof_writes_them():
    trace = story()
    events = instants(trace, "SCX_DSQ")
    assert [(event["type"], event["ts"] - T0, event["name"]) for event in events] == [
        ("begin", 141, "DSQ:dsq_insert_vtime_0x1f"), ("end", 152, None),
        ("begin", 152, "DSQ:dsq_move_0xc000000000000003"), ("end", 154, None),
        ("instant", 155, "DSQ:dsq_insert_0x1f")], events
    assert events[0]["args"] == {"action": "dsq_insert_vtime"}
    assert events[1]["args"] == {"scx_dsq_id": 0x1f, "scx_layer_id": 4, "scx_vtime": 77, "scx_moved": 1, "cpu": 0}
    assert events[3]["args"] == {"scx_dsq_id": 0xc000000000000003 - 2**64, "scx_moved": 0, "cpu": 1}
    assert events[4]["args"] == {"scx_dsq_id": 0x1f, "scx_moved": 0, "cpu": 1, "action": "dsq_insert"}
    for event, tid in zip(events, (101, 101, 101, 101, 100)):
        assert event["track"]["name"] == "scx"
        assert trace.tracks[event["track"]["parent"]]["thread"] == (100, tid)
    assert events[0]["track"]["ts"] == T0 + 141


@case
def what_sched_ext_says_of_a_run_is_an_instant():
    trace = story()
    first, second = [event for event in instants(trace, "scx") if event["name"] == "run"]
    assert first["type"] == "instant" and first["ts"] == T0 + 155 and first["track"]["name"] == "scx"
    assert first["args"] == {"cpu": 1, "scx_dsq_id": 0x1f, "scx_layer_id": 4, "scx_slice_ns": 20000000,
                             "scx_vtime": 2**64 - 1}
    assert second["args"] == {"cpu": 1}


@case
def queues_have_counters_below_sched_ext():
    trace = story()
    counters = [(event["track"]["name"], event["ts"] - T0, event["value"]) for event in trace.track_events
                if event["type"] == "counter" and event["track"]["name"].startswith("DSQ")]
    # A move is not a dispatch; an unknown start gives no latency; the same depth is recorded once.
    assert counters == [("DSQ LOCAL_ON|3 latency", 154, 2), ("DSQ 0x1f latency", 155, 5), ("DSQ 0x1f depth", 156, 2),
                        ("DSQ 0x1f depth", 158, 1), ("DSQ GLOBAL depth", 158, 0)], counters
    root, = [uuid for uuid, track in trace.tracks.items() if track["name"] == "sched_ext"]
    assert trace.tracks[root]["has_ranks"] and trace.tracks[root]["parent"] is None
    tracks = [track for track in trace.tracks.values() if track["name"].startswith("DSQ")]
    assert all(track["parent"] == root and track["is_counter"] for track in tracks)
    assert {track["name"]: track["unit"] for track in tracks} == {
        "DSQ LOCAL_ON|3 latency": 1, "DSQ 0x1f latency": 1, "DSQ 0x1f depth": 2, "DSQ GLOBAL depth": 2}
    assert [track["name"] for track in sorted(tracks, key=lambda track: track["rank"])] == [
        "DSQ LOCAL_ON|3 latency", "DSQ 0x1f depth", "DSQ 0x1f latency", "DSQ GLOBAL depth"]
    states = [(event["ts"] - T0, event["name"], event["args"]) for event in instants(trace, "scx")
              if event["track"]["name"] == "sched_ext"]
    assert states == [(151, "scx_enable", {"scx_ops": "simple"}), (159, "scx_eject", {"scx_ops": "simple"})]


@case
def disks_files_network_and_memory_are_events_of_the_kernel():
    trace = story()
    request = {"pid_": 100, "dev": 8, "sector": 1000, "nr_sector": 16, "bytes": 8192, "rwbs": "WS"}
    assert named(trace, "block_rq_insert") == named(trace, "block_rq_issue") == [request]
    del request["bytes"]
    assert named(trace, "block_rq_complete") == [request]
    assert named(trace, "net_dev_xmit") == [{"pid_": 0, "len": 1500, "name": "eth0"}]
    assert named(trace, "netif_receive_skb") == [{"pid_": 0, "len": 60, "name": "lo"}]
    assert named(trace, "mm_page_alloc") == [{"pid_": 100, "order": 3}]
    assert named(trace, "mm_page_free") == [{"pid_": 100, "order": 2}]
    assert named(trace, "mm_vmscan_direct_reclaim_begin") == [{"pid_": 100, "order": 1}]
    assert named(trace, "mm_vmscan_direct_reclaim_end") == [{"pid_": 100}]
    assert named(trace, "ext4_sync_file_enter") == named(trace, "ext4_sync_file_exit") == [
        {"pid_": 100, "dev": 8, "ino": 99}]
    assert named(trace, "suspend_resume") == [{"pid_": 0, "action": "suspend_enter", "val": -3, "start": 1}]
    assert named(trace, "sched_blocked_reason") == [{"pid_": 0, "pid": 100, "caller": 0xffff0123, "io_wait": 1}]


@case
def samples_have_stacks_from_the_root():
    first, second, off, waker = story().samples
    # Callers are where they call, not where the call returns to; an inlined call is a frame that says so.
    assert first["stack"] == ["user_3f", "user_30", "inner (inlined)", "kernel_ffff001f", "kernel_ffff0010"]
    assert second["stack"] == first["stack"] and (first["count"], second["count"]) == (10, 20)
    assert (first["cpu"], first["pid"], first["tid"], first["mode"]) == (0, 100, 101, 1)
    # The machinery at the leaf of a tracepoint's stack is none of it, and its periods are counted apart.
    assert off["stack"] == waker["stack"] == first["stack"][:-1]
    assert (off["count"], waker["count"]) == (1, 1)


@case
def samples_say_what_they_are_of():
    first, second, off, waker = story().samples
    clock = {"period": None, "frequency": 99, "counter": 1, "name": "cpu-clock", "tracepoint": None}
    assert first["of"] == second["of"] == clock
    point = {"period": 1, "frequency": None, "counter": None}
    assert off["of"] == {**point, "name": "off-cpu", "tracepoint": "sched:sched_switch"}
    assert waker["of"] == {**point, "name": "waker", "tracepoint": "sched:sched_waking"}


@case
def frames_lie_in_mappings():
    caller, outer, inner, *_, leaf = story().samples[0]["places"]
    file = {"path": "/opt/bin/server", "build_id": b"\x01\x02\xff\x00", "start": 0, "end": 0x2000, "offset": 0x1000, "kind": 1}
    assert caller == {**file, "pc": 0x103f, "file": None, "line": None}
    assert outer == {**file, "pc": 0x1030, "file": "/src/outer.c", "line": 12}
    assert inner == {**file, "pc": 0x1030, "file": "/src/inner.h", "line": 3}
    assert (leaf["path"], leaf["kind"], leaf["pc"], leaf["build_id"]) == ("kernel", 2, 0xffff0010, None)


@case
def losses_and_sampling_are_reported():
    trace = story()
    assert [bundle["lost"] for bundle in trace.bundles[1]] == [False, 1]
    assert not any(bundle["lost"] for bundle in trace.bundles[0])
    lost = [event["value"] for event in trace.track_events
            if event["track"]["name"] == "lost events CPU 1"]
    assert lost == [5, 7]
    assert trace.attributes["lost"] == 7
    assert trace.attributes["lost.SWITCH"] == 5 and trace.attributes["lost.WAKING"] == 2
    assert trace.attributes["sampling_one_in"] == 4


@case
def compressed_is_the_same_trace():
    plain, packed = story(), story("gzip")
    assert packed.largest_compressed and not plain.largest_compressed
    assert plain.events == packed.events and plain.threads == packed.threads
    assert plain.attributes == packed.attributes


@case
def a_busy_machine_loses_nothing_unreported():
    for extra in ([], ["gzip"]):
        data, out = write("busy", *extra)
        pushed, trace = json.loads(out), Trace(data)
        assert not trace.is_truncated and trace.largest_compressed < 512 << 10
        check_names(trace)
        check_chains(trace, True)
        check_whole_chains(trace)
        events = [event["name"] for cpu in trace.events for event in trace.events[cpu]]
        assert events.count("switch") + events.count("sched_switch") == pushed["switches"]
        assert events.count("waking") + events.count("sched_waking") == pushed["wakings"]
        assert trace.attributes["lost"] == pushed["lost"] > 0
        assert events.count("sched_switch") < pushed["switches"] / 100
        assert len(trace.threads) == 400 and len(trace.processes) == 50


@case
def a_foreign_task_is_never_shown_to_run():
    trace = Trace(write("filtered")[0])
    check_names(trace)
    switches = [(event["ts"] - T0, event.get("arg_prev_state", event.get("prev_state")),
                 event.get("next", event.get("arg_next_pid"))) for event in trace.events[0]
                if event["name"] in ("switch", "sched_switch")]
    # Who has the CPU, and in which state the one before left: 0 where no one who was asked for has it.
    assert switches == [(10, 0, 100), (20, 1, 0), (30, 0, 100), (40, 1, 101), (50, 256, 0), (60, 0, 101),
                        (70, 1, 0)], switches
    assert check_chains(trace, True) == 0 and trace.attributes["broken_switches"] == 0
    # Which task they had the CPU from, and which took it from one that was not done.
    assert [(event["ts"] - T0, event["track"]["thread"][1], event["name"], event["args"])
            for event in instants(trace, "switch")] == [
        (10, 100, "switch_from", {"cpu": 0, "switch_from": "other", "switch_from_tid": 7}),
        (30, 100, "switch_from", {"cpu": 0, "switch_from": "<tid 9>", "switch_from_tid": 9}),
        (50, 101, "switch_to", {"cpu": 0, "switch_to": "<tid 8>", "switch_to_tid": 8})]
    # A waker is recorded although it is not shown to run.
    assert named(trace, "sched_waking") == [{"pid_": 9, "pid": 100, "comm": "server", "prio": 120,
                                             "target_cpu": 0, "interrupt": 0}]


@case
def affinity_is_reported_of_tasks_that_have_one():
    trace = Trace(write("affinity")[0])
    assert [(event["ts"] - T0, event["track"]["thread"], event["args"])
            for event in instants(trace, "affinity")] == [
        (2, (100, 101), {"cpus_allowed": "0,2-3,8"}), (3, (100, 101), {"cpus_allowed": "63-65"}),
        (4, (100, 101), {"cpus_allowed": "0-63"}), (7, (100, 100), {"cpus_allowed": "0-63"}),
        (7, (100, 100), {"cpus_allowed": "1"}), (8, (100, 101), {"cpus_allowed": "0-63"}),
        (8, (100, 101), {"cpus_allowed": "2"})]
    assert set(trace.threads) == {100, 101}


@case
def stats_of_the_machine_are_counters():
    trace = Trace(write("stats")[0])
    first, rest, last = trace.stats
    assert (first["ts"], rest["ts"], last["ts"]) == (T0 + 100, T0 + 100, T0 + 200)
    assert first["memory"] == {2: 1000, 16: 7} and first["paging"] == {49: 5, 50: 6}
    assert first["pressure"] == {1: 8, 6: 9} and first["forks"] == 11 and first["khz"] == [0, 2400000]
    assert len(first["cpus"]) == 512 and first["cpus"][1022] == [511, 1, 2, 3, 4, 5, 6, 7]
    assert rest["cpus"] == {1024: [512, 1, 2, 3, 4, 5, 6, 7]} and not rest["memory"]
    assert not last["cpus"] and last["forks"] is None
    values = [(event["ts"] - T0, event["track"]["name"], event["value"]) for event in trace.track_events]
    assert values == [(100, "lo rx bytes", 1), (100, "lo rx packets", 2), (100, "lo rx errors", 3),
                      (100, "lo rx drops", 4), (100, "lo tx bytes", 5), (100, "lo tx packets", 6),
                      (100, "lo tx errors", 7), (100, "lo tx drops", 8), (200, "lo rx bytes", 100)]


@case
def killed_after_a_flush_nothing_is_missing():
    data, out = write("busy", "killed")
    pushed, trace = json.loads(out), Trace(data)
    events = [event["name"] for cpu in trace.events for event in trace.events[cpu]]
    assert not trace.is_truncated and "lost" not in trace.attributes
    assert events.count("switch") + events.count("sched_switch") == pushed["switches"]


@case
def wherever_it_is_cut_the_rest_is_a_trace():
    data, _ = write("story")
    for size in range(len(data)):
        trace = Trace(data[:size])
        check_chains(trace, False)
    data, _ = write("busy")
    for size in range(0, len(data), len(data) // 5):
        trace = Trace(data[:size])
        check_names(trace)
        check_chains(trace, True)


@case
def protoc_reads_it():
    if not shutil.which("protoc"):
        raise tap.Skipped("no protoc")
    for args in (["story"], ["busy"]):
        data, _ = write(*args)
        out = subprocess.run(["protoc", "--decode_raw"], input=data, capture_output=True, timeout=60)
        assert out.returncode == 0 and out.stdout.startswith(b"1 {"), out.stderr


sys.exit(tap.run_cases(CASES))
