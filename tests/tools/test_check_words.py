#!/usr/bin/env python3
"""tools/check-words on small trees: each phrase that was once in a message, a page or a comment is found, and what replaced it passes."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
from live import case, expect, main

TOOL = HERE.parent.parent / "tools/check-words"
# What readers stumbled over, and what is written now.
NOW_AND_THEN = [
    ("no cgroup matches: nothing but the lives of tasks will be recorded", "no cgroup matches; only fork, exec and exit events will be recorded"),
    ("deaths stay those of the whole machine", "fork, exec and exit are still recorded system-wide"),
    ("Where others run, the trace shows nobody.", "CPU time of other tasks is left blank"),
    ("how long a dump goes on after what fired", "keep recording for TIME after the trigger"),
    ("SIGUSR2 is obeyed all the same", "SIGUSR2 still works"),
    ("memory for what is kept", "buffer size"),
    ("keep the last TIME in memory all the while", "always buffer the last TIME of events"),
    ("a key writes it", "pressing P saves what led up to it"),
    ("accepted for scxtop's sake: layers are always read", "ignored (scxtop compatibility)"),
    ("the recorder lost 7 events; times between are nobody's", "7 events lost; time in these gaps is not attributed to any task"),
    ("events were lost, how many is not told", "an unknown number of events was lost"),
    ("no event is said to be lost", "no lost events reported"),
    ("this kernel lets nobody see its dispatch queues", "dispatch queues cannot be traced on this kernel"),
    ("too many sessions: one that nobody uses ends", "session limit reached: closing an idle session"),
    ("Who is dead does not come back", "The entry is dead, so the tid was reused: start a new entry."),
    ("What was begun under the eyes of a filter", "Drop open intervals when a task enters the filter."),
    ("does not end behind its back", "Drop open intervals when a task leaves the filter."),
    ("Is it to be had?", "Can it be recovered?"),
    ("a metric that cannot be had here", "a metric that this machine does not offer"),
    ("until the reader has heard of it", "until the reader has noticed it"),
    ("the header is not looked at", "the header is not checked"),
    ("a function that calls nobody", "a leaf function"),
    ("a gap is told as unknown time", "gaps appear as unknown time"),
    ("which is told alone", "is listed individually"),
    ("capabilities that are good to have", "optional capabilities"),
    ("What would an assistant like to know?", "Lets an AI assistant query the scheduler"),
    ("Hand it on", "Export"),
    ("events whose field is so", "events matching a field condition"),
    ("the kind it shall be", "which kind of file it is"),
    ("'latency' is nothing to wait for", "'latency' is not a trigger"),
    ("'b' is one word too many", "unexpected argument 'b'"),
    ("v shape", "v chart style"),
    ("Enter into a process", "Enter opens a process"),
    ("messages and losses", "log and lost events"),
    ("choose a function of the kernel", "choose a kernel function"),
    ("80.2% came this way", "80.2% via"),
    ("plays by 250ms", "playing, 250 ms/step"),
    ("the last that is known", "last known values"),
    ("time with all that it calls", "time including callees"),
    ("functions that take the time", "hottest functions"),
    ("one interval on", "one interval forward"),
    ("sort the other way", "reverse sort"),
    ("not measured before it was frozen: go on", "No data: this view was not open when you froze."),
    ("waits for ever", "waits forever"),
]


def check(name, text):
    """The exit status and what is printed about one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "-q", folder], check=True)
        done = subprocess.run([TOOL, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


@case
def each_phrase_is_found_and_its_replacement_passes():
    """One file for all of them: a line each."""
    status, said = check("docs/a.md", "".join(f"{then}.\n\n" for then, _ in NOW_AND_THEN))
    missed = [then for nr, (then, _) in enumerate(NOW_AND_THEN) if f"docs/a.md:{2 * nr + 1}:" not in said]
    expect(status == 1 and not missed, f"not found: {missed}")
    status, said = check("docs/a.md", "".join(f"{now}\n\n" for _, now in NOW_AND_THEN))
    expect((status, said) == (0, ""), f"replacements are refused: {said}")


@case
def a_phrase_is_found_where_its_lines_break():
    for text in ('log("the time with all "\n\t\t"that it calls");\n', "/*\n * Time with all\n * that it calls.\n */\n", "// time with all that it\n// calls\n"):
        expect(check("src/a.c", text)[0] == 1, f"not found: {text}")
    expect(check("src/a.c", 'log("an unknown number"\n    " of events");\n') == (0, ""), "a plain sentence is refused")


@case
def people_are_no_tasks():
    expect(check("README.md", "SIGHUP reaches somebody.\n")[0] == 1, "somebody")
    expect(check("README.md", "It goes on as nobody, user nobody.\n") == (0, ""), "the user is refused")
    expect(check("debian/rules.md", "Whoever reads this.\n")[0] == 1, "a package's file is not read")


main()
