#!/usr/bin/env python3
"""Wrong usages, each answered in one line with what is wrong, why, and what to do; nothing is loaded or written. Prints TAP.

Each row is a command line, its exit code (2 for a wrong word, 1 for what is not there), what is wrong, and what to do. FILE is a real
recording of perf.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import run_cases  # noqa: E402

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
FILE = str(pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests/data/perf/arm64-6.12-sched.data.gz")

WORDS = [
    # commands
    ("xyzzy", 2, "unknown command 'xyzzy'", "there are top, stat, record"),
    ("hepl", 2, "unknown command 'hepl'", "did you mean 'help'?"),
    ("wakeup", 2, "unknown command 'wakeup'", "there are top, stat"),
    ("help nosuch", 2, "unknown command 'nosuch'", "there are top, stat"),
    ("help stat top", 2, "one command at a time", "see 'schedscope help --help'"),
    ("--versoin", 2, "unknown option '--versoin'", "did you mean '--version'?"),
    ("version", 2, "unknown command 'version'", "there are top"),
    # completions, manual
    ("generate-completions tcsh", 2, "no completions are written for 'tcsh'", "bash, elvish, fish, powershell and zsh"),
    ("generate-completions fihs", 2, "no completions are written for 'fihs'", "did you mean 'fish'?"),
    ("generate-completions bash zsh", 2, "more than one shell", "name one"),
    ("generate-completions --shell fsh", 2, "is none of bash", "did you mean 'fish'?"),
    ("generate-completions -s", 2, "option '-s' needs a value", "see 'schedscope generate-completions --help'"),
    ("generate-completions -o /no/such/file", 1, "cannot write '/no/such/file': No such file", "check the path"),
    # stat
    ("stat --outliers 5min", 2, "'5min' is not a time", "write it as 10s, 1.5ms"),
    ("stat -l fast", 2, "'fast' is not a time", "write it as 10s, 1.5ms"),
    ("stat -i 1ms", 2, "1ms is too short, the least is 100ms", "see 'schedscope stat --help'"),
    ("stat -r x", 2, "'x' is not a time", "write it as 10s"),
    ("stat -g latncy", 2, "'latncy' is neither a group nor an event", "did you mean 'latency'?"),
    ("stat -g xyzzyq", 2, "'xyzzyq' is neither a group nor an event", "groups: latency slice"),
    ("stat -c /(/", 2, "pattern '(' is wrong after 1 bytes", "regular expressions"),
    ("stat --by procss", 2, "'procss' is none of comm, tid, tgid, cgroup", "see 'schedscope stat --help'"),
    ("stat --sort p9", 2, "'p9' is none of", "did you mean"),
    ("stat -p 0", 2, "0 is too small, the least is 1", "see 'schedscope stat --help'"),
    ("stat -p bash", 2, "'bash' is not a number", "see 'schedscope stat --help'"),
    ("stat -d --by cgroup", 2, "--by cgroup contradicts --detailed", "leave one of them out"),
    ("stat --blame --histogram", 2, "--histogram does not go with --blame", "leave one of them out"),
    ("stat --blame --cgroup a --cgroup b", 2, "--blame takes one --cgroup", "write one pattern"),
    ("stat extra", 2, "unexpected argument 'extra'", "see 'schedscope stat --help'"),
    ("stat --intervall 2", 2, "unknown option '--intervall'", "did you mean '--interval'?"),
    ("stat -p 4194303", 1, "there is no process 4194303", "'ps -e' lists them"),
    ("stat --tid 4194303", 1, "there is no thread 4194303", "'ps -eL' lists them"),
    # record
    ("record -d 5", 2, "5 (5ms) is too short, the least is 10ms", "write 5s for seconds"),
    ("record --duration 1x", 2, "'1x' is not a time", "write it as 10s"),
    ("record --events foo", 2, "'foo' is not an event that can be recorded", "there are default, sched"),
    ("record --events swich", 2, "'swich' is not an event that can be recorded", "see|there are|did you mean"),
    ("record --trigger latency>5ms", 2, "'latency' is not a trigger", "there are wakeup-latency, sleep|did you mean"),
    ("record --trigger slep>1s", 2, "'slep' is not a trigger", "did you mean 'sleep'?"),
    ("record --trigger slice>1s,comm=/(/", 2, "pattern '(' is wrong after 1 bytes", "regular expressions"),
    ("record --trigger slice>5", 2, "'5' is not a time", "write it as"),
    ("record --trigger slice", 2, "has no '>'", "write it as"),
    ("record --trigger slice>1s,name=x", 2, "'name=x' is not a condition", "write it as"),
    ("record --max-dumps 1", 2, "--max-dumps is for the flight recorder", "add one of them"),
    ("record --keep 1s -o -", 2, "more than one output file", "give a directory"),
    ("record --keep 1s -s", 2, "keeps no system statistics", "leave one of them out"),
    ("record --duration 1 --trace-ms 500", 2, "contradict each other", "give one of them"),
    ("record -p 1 -- true", 2, "contradict each other", "leave one out"),
    ("record --unwind fp", 2, "--unwind is for --stacks", "add --stacks"),
    ("record --stacks=cpuu", 2, "cpuu", "did you mean|see|cpu"),
    ("record --metadata web", 2, "is not KEY=VALUE", "KEY has letters"),
    ("record --start-at soon", 2, "is not a time to start at", "write|see|10s"),
    ("record --report -o -", 2, "--report takes a recording in a file", "name a file with -o"),
    ("record -- no-such-command", 1, "cannot run 'no-such-command': No such file", "check its name, and PATH"),
    ("record -o . -- /etc/passwd", 1, "cannot run '/etc/passwd': Permission denied", "may be executed"),
    ("record -o .", 1, "cannot create '.': it is a directory", "name a file in it"),
    ("record --tracepoints ab", 2, "'ab' is not a tracepoint", "write SUBSYSTEM:NAME"),
    ("record -p 4194303", 1, "there is no process 4194303", "'ps -e' lists them"),
    # profile
    ("profile --flamegraph x.png", 2, "'x.png' does not say which kind of file it is", "end in .svg or .html"),
    ("profile -e cycles --off-cpu", 2, "contradict each other", "give one of them"),
    ("profile -F 99 --period 9", 2, "contradict each other", "give one of them"),
    ("profile --by wait", 2, "--by wait is about waits", "add --off-cpu"),
    ("profile -K -U", 2, "nothing to show", "leave one out"),
    ("profile --duration 1ms", 2, "1ms is too short, the least is 10ms", "see 'schedscope profile --help'"),
    # recordings
    ("analyze", 2, "no file is named", "write 'schedscope analyze FILE'"),
    ("analyze FILE wakeup_latncy", 2, "'wakeup_latncy' is not an analysis", "did you mean 'wakeup_latency'?"),
    ("analyze FILE xyzzyq", 2, "'xyzzyq' is not an analysis", "'schedscope analyze --list' lists them"),
    ("analyze FILE cpu_timeline", 1, "cpu_timeline needs a CPU", "name one with --cpu"),
    ("analyze FILE --cpu 99", 1, "this trace has no CPU 99", "its last is"),
    ("analyze FILE -c nobody-here", 1, "no thread of this trace is named 'nobody-here'", "a pattern is the whole name"),
    ("analyze FILE -c ur", 1, "no thread of this trace is named 'ur'", "'*ur*' takes those of which it is a part"),
    ("analyze FILE -c /(/", 2, "pattern '(' is wrong", "regular expressions"),
    ("analyze FILE --from 5s --to 1s", 2, "--to is not after --from", "give a later --to"),
    ("analyze FILE --from 1h", 2, "--from is after the end of the trace", "times count from its start"),
    ("analyze FILE --from noon", 2, "'noon' is not a time", "write 1.5s"),
    ("analyze FILE --by thred", 2, "rows cannot be by 'thred'", "write thread, process"),
    ("analyze FILE --category io", 2, "--category is for outliers, flamegraph, --list and --all", "name one of these"),
    ("analyze FILE --list --category nosuch", 2, "no analysis is of the category 'nosuch'", "there are scheduling"),
    ("analyze FILE blame --method MAD", 2, "--method is for the analysis outliers", "write 'schedscope analyze FILE outliers"),
    ("analyze FILE outliers --method nosuch", 1, "'nosuch' is not a method", "use IQR"),
    ("analyze /no/such/file", 1, "cannot open '/no/such/file'", "check the path"),
    ("analyze /etc/passwd", 1, "'/etc/passwd' is not a trace", "perf.data, trace.dat"),
    ("explain", 2, "no file is named", "write 'schedscope explain FILE'"),
    ("explain FILE FILE", 2, "unexpected argument", "takes one file"),
    ("explain FILE --at 1h", 1, "--at is not within the trace", "times count from its start"),
    ("explain FILE --tid 4294967294", 1, "this trace has no thread 4294967294", "process_runtime' lists"),
    ("explain FILE --sleeps --by comm", 2, "does not apply to --sleeps", "leave one of them out"),
    ("query", 2, "no file is named", "write 'schedscope query FILE'"),
    ("query FILE -e sched_swich", 2, "'sched_swich' is not an event", "did you mean 'sched_switch'?"),
    ("query FILE -e xyzzyq", 2, "'xyzzyq' is not an event", "--fields' lists them"),
    ("query FILE -w prio<", 2, "prio is a number", "see 'schedscope query --help'"),
    ("query FILE -w next_comm~/(/", 2, "pattern '(' is wrong", "regular expressions"),
    ("query FILE -w nosuch=1", 2, "no event has a field 'nosuch'", "--fields' lists"),
    ("query FILE -w comm", 2, "'comm' is not a condition", "write FIELD=VALUE"),
    ("query FILE --all --limit 3", 2, "--all and --limit contradict each other", "leave one of them out"),
    ("query FILE --format xml", 2, "'xml' is none of table, json, jsonl, csv", "see 'schedscope query --help'"),
    ("diff FILE", 2, "two files are compared, and 1 given", "write 'schedscope diff BEFORE AFTER'"),
    ("diff --a nosuch*.x --b FILE", 1, "no file matches 'nosuch*.x'", "check the folder"),
    ("report", 2, "no file is named", "write 'schedscope report FILE'"),
    ("export", 2, "no file is named", "write 'schedscope export FILE'"),
    ("convert FILE", 2, "a file to read and one to write are needed", "write 'schedscope convert IN OUT'"),
    ("top FILE FILE", 2, "one file at a time", "see 'schedscope top --help'"),
]


def answer(words, folder):
    """What a wrong usage is answered with: (exit code, the one line, what is printed)."""
    words = [FILE if word == "FILE" else word for word in words.split()]
    done = subprocess.run([SCHEDSCOPE, *words], capture_output=True, text=True, timeout=60, cwd=folder, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stderr, done.stdout


def check(words, code, what, todo, folder):
    """Why the answer is not good; None if it is."""
    got, said, printed = answer(words, folder)
    lines = said.splitlines()
    if len(lines) != 1 or not said.startswith("schedscope: ") or printed:
        return f"{words}: not one line: {said!r} {printed[:100]!r}"
    if got != code or what not in said:
        return f"{words}: exit {got}, and {code} is right: {said}"
    if not any(word in said for word in todo.split("|")):
        return f"{words}: does not say what to do: {said}"
    return None


def every_wrong_usage_is_answered():
    """Rows that need a kernel with our programs are those of exit code 1 of stat and record: they are refused before it is asked."""
    assert len(WORDS) >= 75, len(WORDS)
    with tempfile.TemporaryDirectory() as folder:
        bad = [why for why in (check(*row, folder) for row in WORDS) if why]
        assert all(todo for *_, todo in WORDS), "each answer says what to do"
        assert not os.listdir(folder), f"left {os.listdir(folder)}"
    assert not bad, "\n" + "\n".join(bad)


sys.exit(run_cases([every_wrong_usage_is_answered]))
