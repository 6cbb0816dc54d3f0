"""`schedscope top FILE` on a real terminal (tmux): play, pause, seek, the same views."""
import gzip
import os
import pathlib
import re
import shutil

import live
from test_screen import check_clean, press_all, terminal

TRACE = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests/data/perfetto/d-host-deflate.pftrace.gz"
WHERE = re.compile(r"^(playing|paused) .* ([0-9.]+) of ([0-9.]+) s  (\S+)", re.M)


def where(term):
    """Whether it plays, the position, the length, the speed."""
    found = WHERE.search(term.wait(WHERE.search, "line of the player"))
    return found[1], float(found[2]), float(found[3]), found[4]


def wait_until(term, position):
    """Until it stands there."""
    term.wait(lambda text: WHERE.search(text) and float(WHERE.search(text)[2]) == position, f"{position} s")


@live.case
def it_plays_and_pauses():
    with terminal(120, 30) as term:
        term.start("top", str(TRACE), "-r", "100")
        first = where(term)
        assert first[0] == "playing" and first[3] == "x1", first
        term.wait(lambda text: (at := WHERE.search(text)) and float(at[2]) > first[1] + 0.15, "later position")
        term.keys("Space")
        term.wait_for("PAUSED")
        there = where(term)
        assert round(there[1] * 1000) % 100 == 0 and there[0] == "paused", there
        live.time.sleep(0.5)
        assert where(term) == there
        term.keys("Space")
        term.wait_for("the end of the recording")
        ended = where(term)
        assert ended[0] == "paused" and ended[1] == ended[2], ended
        term.keys("Space")  # again from the start
        term.wait(lambda text: (at := WHERE.search(text)) and at[1] == "playing" and float(at[2]) < 1, "the start again")
        term.keys("q")
        term.check_restored(0)


@live.case
def keys_seek_and_change_the_speed():
    with terminal(120, 30) as term:
        term.start("top", str(TRACE), "-r", "1000")
        term.keys("Space", "^")
        wait_until(term, 1.0)
        term.keys("Right")
        wait_until(term, 2.0)
        shown = term.text()
        term.keys("Left")
        wait_until(term, 1.0)
        assert term.text() != shown
        term.keys(".")
        wait_until(term, 2.0)
        # The same position shows the same, except what depends on time: the past is there already.
        assert term.text().split("\n")[1:] == shown.split("\n")[1:]
        term.keys("-", "-")
        term.wait_for("250ms/step")
        assert where(term)[1] == 2.0
        term.keys(",")
        wait_until(term, 1.75)
        term.keys("+", "+", "+", "}")
        term.wait_for("x2  2.00s/step")
        term.keys("$")
        end = where(term)[2]
        wait_until(term, end)
        term.keys("(")
        wait_until(term, 2.0)
        term.keys("q")
        term.check_restored(0)


@live.case
def a_key_goes_to_the_next_of_the_longest_waits_and_enter_explains_it():
    with terminal(120, 30) as term:
        term.start("top", str(TRACE), "-r", "100")
        term.keys("Space", "^")
        bar = next(line for line in term.wait_for("◆").split("\n") if WHERE.match(line))
        assert 1 <= bar.count("◆") <= 32, bar
        seen = []
        for key in (r"\;", r"\;", ":"):  # tmux takes a bare semicolon for its own
            term.keys(key)
            text = term.wait(lambda text, before=tuple(seen): re.search(r"wait \d+ of the \d+ longest: .* waited \S+", text)
                             and (not before or where(term)[1] != before[-1]), "the next wait")
            seen.append(where(term)[1])
            assert "Enter explains" in text.split("\n")[1], text
        assert seen[0] < seen[1] and seen[2] == seen[0], seen
        tid = re.search(r"\[(\d+)\] waited", term.text().split("\n")[1])[1]  # the longest of that interval
        term.keys("Enter")
        text = term.wait_for("Where its waits went")
        assert f"[{tid}] of process" in text and where(term)[1] == seen[2], text
        term.keys("Escape")
        term.wait_for("Enter explains")


@live.case
def other_views_can_be_shown_while_it_is_paused():
    with terminal(160, 40) as term:
        term.start("top", str(TRACE), "-r", "500")
        term.keys("Space", "^")
        wait_until(term, 0.5)
        for key, word in (("y", "stress-ng-cpu"), ("p", "stress-ng-cpu"), ("l", "LLC"), ("n", "node"), ("s", "sched_ext"),
                          ("i", "wakeup"), ("d", "CPUs")):
            term.keys(key)
            term.wait(lambda text, w=word: w.lower() in text.lower() and "PAUSED" in text, repr(word))
            assert where(term)[1] == 0.5 and "not measured" not in term.text(), key
        term.keys("y", "/", "l", "o", "c", "k", "Enter", "Enter")
        term.wait_for("lock-")
        term.keys("Right")
        wait_until(term, 1.0)
        assert "lock-" in term.text()
        term.keys("C-c")
        term.check_restored(0)


@live.case
def blame_is_by_what_is_asked_for():
    for by, row in (("class", r"fair +[0-9.]+m?s .*fair \d+%"), ("thread", r"stress-ng-cpu[^ ]*/\d+|stress-ng-cpu[^ ]* \(\d+\)")):
        with terminal(160, 40) as term:
            term.start("top", str(TRACE), "-r", "500", "--by", by)
            term.keys("Space", "^", "!")
            term.wait_for(f"Blame by {by}: ")
            term.wait(lambda text, r=row: re.search(r, text), f"a row by {by}")
            term.keys("q")
            term.check_restored(0)


@live.case
def what_it_has_not_is_said():
    with terminal(120, 60) as term:
        term.start("top", str(TRACE))
        for key in ("M", "N", "b", "P", "a", "w"):
            term.keys(key)
            term.wait_for("not available: ")
            term.keys("f")
        term.keys("O")
        term.wait_for("a recording by perfetto")
        term.keys("q")
        term.check_restored(0)


@live.case
def an_unprivileged_user_can_play_it():
    with terminal(120, 30) as term:
        shutil.copy(TRACE, term.folder / "trace.gz")
        for path in (term.folder, term.folder / "trace.gz"):
            path.chmod(0o755)
        words = [*([] if os.geteuid() else live.NOBODY), live.SCHEDSCOPE, "top", str(term.folder / "trace.gz")]
        term.start(*words[1:], program=words[0])
        assert where(term)[0] == "playing"
        term.keys("q")
        term.check_restored(0)


@live.case
def every_key_at_every_size_in_a_recording():
    with terminal() as term:
        term.start("top", str(TRACE), "-r", "50")
        for key in (",", ".", "(", ")", "^", "$", "{", "}", "Space", "Space"):
            term.keys(key)
            check_clean(term.text())
        press_all(term)


@live.case
def a_bad_file_is_reported_before_the_screen():
    with terminal(200, 24) as term:
        damaged = bytearray(gzip.decompress(TRACE.read_bytes()))
        for at in range(1000, len(damaged), 5000):
            damaged[at] ^= 0xff
        (term.folder / "damaged").write_bytes(damaged)
        (term.folder / "text").write_text("no trace\n" * 99)
        for path, said in (("/nonexistent", "cannot"), (str(term.folder / "text"), "trace"), ("-", "standard input")):
            term.keys("-l", f"clear; {live.SCHEDSCOPE} top {path}; echo ended=$?")
            term.keys("Enter")
            term.wait(lambda text, s=said: s in text and "ended=1" in text, repr(said))
        term.start("top", str(term.folder / "damaged"))  # counted and skipped
        term.keys("O")
        term.wait_for("damaged: ")
        term.keys("q")
        term.check_restored(0)


@live.case
def a_frozen_machine_says_what_was_not_measured():
    with terminal(120, 30) as term:
        term.start("-e", "-r", "100")
        term.keys("p")
        term.wait_for("CLASS")
        live.time.sleep(0.5)
        term.keys("Space")
        term.wait_for("FROZEN")
        term.keys("b")
        term.wait_for("this view was not open when you froze")
        term.keys("Space")
        term.wait(lambda text: "not open when you froze" not in text and "FROZEN" not in text, "programs")
        term.keys("q")
        term.check_restored(0)


if __name__ == "__main__":
    raise SystemExit(live.main())
