#!/usr/bin/env python3
"""Whole runs of the program as a user starts it: it ends well and says something. Prints TAP."""
import json
import os
import subprocess
import sys

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
RUNS = [
    # name, arguments, whether it loads BPF programs, whether each line of its output is JSON
    ("everything_is_measured_for_two_seconds", "stat -g all -r 2", True, False),
    ("every_interval_is_a_line_of_json", "stat --json -g most -i 500ms -r 1", True, True),
    ("outliers_and_histograms_are_shown", "stat --outliers 100 --histogram --by tid -r 1", True, False),
    ("the_events_of_this_machine_are_listed", "stat --perf-list", False, False),
    ("the_topology_of_this_machine_is_written", "stat --gen-topology", False, False),
    ("the_doctor_reports", "doctor", False, False),
    ("the_doctor_reports_as_json", "doctor --json", False, False),
    ("help_is_shown", "help stat", False, False),
    ("completions_are_written", "generate-completions --shell zsh", False, False),
]


def why_not():
    """Why BPF programs cannot be loaded here; empty if they can."""
    if os.geteuid() != 0:
        return "needs root"
    return "" if os.path.exists("/sys/kernel/btf/vmlinux") else "the kernel has no BTF"


def complaint(arguments, is_json):
    """What is wrong with a run; empty if nothing is."""
    try:
        result = subprocess.run([SCHEDSCOPE, *arguments.split()], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "did not end within 60 seconds"
    if result.returncode != 0:
        return f"exit {result.returncode}\n{result.stderr}"
    if not result.stdout.strip():
        return "no output"
    if "runtime error:" in result.stderr or "Sanitizer" in result.stderr:
        return result.stderr
    if is_json:
        for line in result.stdout.splitlines():
            json.loads(line)
    return ""


def main():
    failed = 0
    print(f"1..{len(RUNS)}")
    for number, (name, arguments, is_live, is_json) in enumerate(RUNS, 1):
        skipped = is_live and why_not()
        wrong = "" if skipped else complaint(arguments, is_json)
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}{f' # SKIP {skipped}' if skipped else ''}")
        print("".join(f"# {line}\n" for line in wrong.splitlines()), end="", flush=True)
    return failed != 0


sys.exit(main())
