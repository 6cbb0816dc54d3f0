#!/usr/bin/env python3
"""tools/check-dead on small trees: what it finds, what it lets pass, and exceptions that are not needed."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
from live import case, expect, main

TOOL = HERE.parent.parent / "tools/check-dead"
USED = {"src/a.h": "int used(void);\n", "src/a.c": "int used(void)\n{\n\treturn 1;\n}\n",
        "src/b.c": "int main(void)\n{\n\treturn used();\n}\n"}
UNUSED = {"src/a.h": "int unused(int a);\n", "src/a.c": "int unused(int a)\n{\n\treturn a;\n}\n"}
OWN = {"src/a.h": "int own(void);\n",
       "src/a.c": "int own(void)\n{\n\treturn 1;\n}\n\nstatic int other(void)\n{\n\treturn own();\n}\n"}


def check(files, exceptions=""):
    """The exit status and what is printed."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**files, "tools/check-dead.exceptions": exceptions}.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        done = subprocess.run([TOOL, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


@case
def what_another_file_uses_passes():
    expect(check(USED) == (0, ""), check(USED))


@case
def what_nothing_uses_is_named():
    expect(check(UNUSED) == (1, "src/a.h: unused() is used by nothing\n"), check(UNUSED))


@case
def what_only_tests_use_is_dead_too():
    tree = {**UNUSED, "tests/t.c": "int main(void)\n{\n\treturn unused(0);\n}\n"}
    expect(check(tree) == (1, "src/a.h: unused() is used by tests alone\n"), check(tree))


@case
def what_only_its_own_file_uses_needs_a_test():
    expect(check(OWN) == (1, "src/a.h: own() is used in its own file alone: make it static\n"), check(OWN))
    tree = {**OWN, "tests/t.c": "int main(void)\n{\n\treturn own();\n}\n"}
    expect(check(tree) == (0, ""), check(tree))


@case
def a_mention_in_a_comment_or_a_text_is_no_use():
    tree = {**UNUSED, "src/b.c": '/* unused(1) */\nconst char *b = "unused(1)";\n'}
    expect(check(tree)[0] == 1, check(tree))


@case
def an_exception_is_let_pass():
    expect(check(UNUSED, "# why\n\nunused  shows what nothing else does\n") == (0, ""), check(UNUSED, "unused\n"))


@case
def an_exception_that_is_not_needed_fails():
    for name in ("used", "gone"):
        done = check(USED, f"{name}  was needed once\n")
        expect(done == (1, f"tools/check-dead.exceptions: {name}() needs no exception\n"), done)


main()
