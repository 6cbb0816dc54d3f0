"""A recording of a sched_ext scheduler that never runs one of its tasks, made by hand: tests/vm/test_scx.py records a real one."""
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "trace"))

from encode import BOOT, own  # noqa: E402  pylint: disable=wrong-import-position
from scenarios import Scenario, Task  # noqa: E402  pylint: disable=wrong-import-position
from wire import msg, num, packet, text  # noqa: E402  pylint: disable=wrong-import-position

INSTANT, STALLED = 3, 1026  # SCX_EXIT_ERROR_STALL
TRACK, SEQUENCE = 0x5c4ed, 7
MS = 1_000_000


def state(at_ns, name, *facts):
    """The scheduler comes or goes."""
    annotations = [msg(4, text(10, "scx_ops"), text(6, "vm_stall")), *facts]
    return packet(num(8, BOOT + at_ns), num(10, SEQUENCE), num(58, 6), msg(11, num(9, INSTANT), num(11, TRACK), text(22, "scx"), text(23, name), *annotations))


def stalled_recording():
    """A task is woken 400 ms after the start, and runs when the kernel has thrown the scheduler out, 2 s later; another has the CPU meanwhile."""
    world = Scenario("stall", {0: 0, 1: 0}, [Task(101, 101, "stallme"), Task(102, 102, "other")])
    world.wake(MS, 0, 102)
    for i in range(1, 120):
        at = 20 * i * MS
        if i == 20:
            world.wake(at - MS, 0, 101)
        world.switch(at, 0, 102)
        world.switch(at + 15 * MS, 0, 0, "S")
        world.wake(at + 18 * MS, 1, 102)
    world.switch(2410 * MS, 1, 101)
    world.switch(2420 * MS, 1, 0, "S")
    world.switch(2430 * MS, 0, 102)
    world.switch(2500 * MS, 0, 0, "S")
    track = packet(msg(60, num(1, TRACK), text(2, "sched_ext")))
    return (own(world) + track + state(5 * MS, "scx_enable")
            + state(2405 * MS, "scx_eject", msg(4, text(10, "scx_exit_kind"), num(4, STALLED)),
                    msg(4, text(10, "scx_message"), text(6, "stallme[101] failed to run for 2.005s"))))
