#!/usr/bin/env python3
"""`schedscope stat` where something is missing, wrong or taken away: it says so, and the rest works."""
import json
import os
import re
import signal
import struct
import subprocess
import time

from live import (SCHEDSCOPE, WAIT_S, Stat, as_nobody, case, expect, expect_sentence, expect_usage_error, main,
                  need_live, output, rows, run, wait_until_attached, workload)

EM_BPF = 247
GROUPS_HERE = ("latency", "slice", "sleep", "migration")


def programs():
    """Ids of all loaded BPF programs."""
    out = subprocess.run(["bpftool", "-j", "prog", "list"], capture_output=True, text=True, check=True)
    return {program["id"] for program in json.loads(out.stdout)}


def has_pmu():
    """Hardware counters of any kind of CPU."""
    devices = os.listdir("/sys/bus/event_source/devices")
    return any(re.match(r"cpu|armv8|armv9|apple", name) for name in devices)


@case
def without_rights_it_names_the_capabilities_and_the_remedy():
    expect_sentence(as_nobody(["stat", "-r", "1"]), "cap_bpf", "cap_perfmon", "setcap")


@case
def two_capabilities_are_enough():
    out = as_nobody(["stat", "--json", "-r", "2", "-g", ",".join(GROUPS_HERE)], caps=("bpf", "perfmon"))
    expect(out.returncode == 0, f"exit {out.returncode}: {out.stderr}")
    report = json.loads(out.stdout.splitlines()[-1])
    for group in GROUPS_HERE[:3]:
        expect(rows(report, group), f"{group} is empty")


@case
def without_btf_it_says_so():
    need_live()
    out = output(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$0" stat -r 1',
                  SCHEDSCOPE])
    expect_sentence(out, "BTF")


@case
def without_sched_ext_its_queues_are_a_sentence_and_with_all_a_remark():
    need_live()
    if os.path.exists("/sys/kernel/sched_ext"):
        return  # in virtual machines: vm/test_dsq.py
    expect_sentence(run("stat", "-g", "dsq", "-r", "1"), "no sched_ext", "Linux 6.12")
    out = run("stat", "-g", "dsq,latency", "-r", "1")
    expect(out.returncode == 1, f"exit {out.returncode}")
    out = run("stat", "-g", "all", "-r", "1", "--json")
    expect(out.returncode == 0 and "without dsq" in out.stderr, f"exit {out.returncode}: {out.stderr}")
    expect("dsq" not in json.loads(out.stdout.splitlines()[-1])["groups"], "a table of queues that there are not")


@case
def most_works_without_a_pmu_and_without_schedstats():
    with Stat("-g", "most") as stat:
        workload("sleep", rounds=10)
        report = stat.finish()
        talk = "\n".join(stat.err.lines)
    for group in GROUPS_HERE[:3]:
        expect(rows(report, group), f"{group} is empty")
    if not has_pmu():
        expect("perf" in talk, f"nothing is said about the missing PMU: {talk}")
    if not os.path.exists("/proc/schedstat"):
        expect("schedstat" in talk, f"nothing is said about missing schedstats: {talk}")


@case
def counters_alone_without_a_pmu_fail_with_a_sentence():
    need_live()
    if has_pmu():
        out = run("stat", "--json", "-r", "1", "-g", "perf")
        expect(out.returncode == 0, f"exit {out.returncode}: {out.stderr}")
    else:
        expect_sentence(run("stat", "-r", "1", "-g", "perf"), "no hardware counters")


@case
def schedstat_alone_without_schedstats_fails_with_a_sentence():
    need_live()
    out = run("stat", "--json", "-r", "1", "-g", "schedstat")
    if os.path.exists("/proc/schedstat"):
        expect(out.returncode == 0, f"exit {out.returncode}: {out.stderr}")
    else:
        expect_sentence(out, "schedstat")


def bpf_objects():
    """The ELF files of BPF programs that are inside of ours."""
    with open(SCHEDSCOPE, "rb") as file:
        program = file.read()
    at = program.find(b"\x7fELF", 1)
    while at >= 0:
        machine, = struct.unpack_from("<H", program, at + 18)
        headers, = struct.unpack_from("<Q", program, at + 40)
        size, number = struct.unpack_from("<HH", program, at + 58)
        if machine == EM_BPF:
            yield program[at:at + headers + size * number]  # section headers come last
        at = program.find(b"\x7fELF", at + 1)


@case
def queue_depth_needs_no_runqueues_symbol():
    need_live()
    objects = list(bpf_objects())
    expect(any(b"\0on_wakeup\0" in one for one in objects), "the programs of stat are not found")
    expect(not any(b"\0runqueues\0" in one for one in objects), "a program refers to the symbol, which kernels may lack")
    with Stat("-c", "^pp-") as stat:
        workload("pingpong", rounds=2000)
        report = stat.finish()
    found = rows(report, "depth")
    expect(found and all(row["count"] > 0 for row in found), f"no depth: {found}")


@case
def cgroups_of_a_hybrid_system_have_names():
    need_live()
    report = json.loads(run("stat", "--json", "--by", "cgroup", "-r", "1").stdout.splitlines()[-1])
    found = rows(report, "latency")
    expect(any(str(row["cgroup"]).startswith("/") for row in found), f"no path of a cgroup: {found[:3]}")


@case
def software_events_need_no_pmu():
    with Stat("-g", "perf=cpu-clock", "-c", "^hog$") as stat:
        workload("hogs", nr=2, ms=1500)
        report = stat.finish()
    text = json.dumps(report["groups"])
    expect("cpu-clock" in text and "hog" in text, f"no counter of the hogs: {text[:300]}")


@case
def wrong_words_are_shown_and_nothing_is_loaded():
    need_live()
    expect_usage_error("latncy", "-g", "latncy")
    expect_usage_error("race", "-g", "race")  # not a raw event 0xace
    expect_usage_error("[a", "-c", "[a")
    expect_usage_error("(b", "--global-comm", "(b")
    expect_usage_error("*c", "--cgroup", "/*c/")
    expect_usage_error("1x", "-i", "1x")
    expect_usage_error("-5", "-r", "-5")
    expect_usage_error("colour", "--by", "colour")
    expect_usage_error("--no-such-option", "--no-such-option")


@case
def an_event_that_this_machine_lacks_is_named():
    need_live()
    expect_sentence(run("stat", "-r", "1", "-g", "perf=no-such-event"), "no-such-event", "--perf-list")


@case
def a_signal_brings_the_final_report():
    for how in (signal.SIGINT, signal.SIGTERM):
        need_live()
        process = subprocess.Popen([SCHEDSCOPE, "stat", "--json", "-i", "1000"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        wait_until_attached(process.pid)
        process.send_signal(how)
        out, err = process.communicate(timeout=WAIT_S)
        expect(process.returncode == 0, f"{how.name}: exit {process.returncode}: {err}")
        expect(len(out.splitlines()) == 1, f"{how.name}: {len(out.splitlines())} reports, expected 1")
        expect(rows(json.loads(out), "latency"), f"{how.name}: an empty report")


@case
def a_closed_pipe_ends_it_quietly():
    for args in (["--json"], []):
        need_live()
        process = subprocess.Popen([SCHEDSCOPE, "stat", "-i", "1", *args], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.close()
        try:
            code = process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{args}: still running 5 s after its reader went away") from None
        err = process.stderr.read()
        expect(code == 0, f"{args}: exit {code}: {err}")
        expect(len(err.splitlines()) <= 1, f"{args}: too much talk: {err}")


@case
def nothing_stays_behind_when_it_is_killed():
    with Stat("-g", "latency,slice,sleep,migration,waking") as stat:
        ours = stat.programs() & programs()
        expect(len(ours) >= 3, f"{len(ours)} programs are loaded while it runs")
        stat.process.send_signal(signal.SIGKILL)
        stat.process.wait()
    deadline = time.monotonic() + 5
    while programs() & ours and time.monotonic() < deadline:
        time.sleep(0.1)
    expect(not programs() & ours, f"programs {programs() & ours} are still there")


@case
def only_what_is_asked_for_is_loaded():
    with Stat("-g", "slice") as slices, Stat("-g", "latency,slice,sleep,migration,waking") as many:
        few, all_of_them = len(slices.programs()), len(many.programs())
    # Wakeups, new tasks, wakings and migrations are nothing to slices.
    expect(few <= all_of_them - 4, f"{few} programs for slices alone, {all_of_them} for all groups")


if __name__ == "__main__":
    main(at_once=3)
