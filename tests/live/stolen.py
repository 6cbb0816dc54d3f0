"""A recording of stolen time, made by hand: no machine can be made to do it."""
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "trace"))

from encode import own  # noqa: E402  pylint: disable=wrong-import-position
from scenarios import Scenario, Task  # noqa: E402  pylint: disable=wrong-import-position

MEASURES_STEAL = 2  # EV_MEASURES_STEAL
MS = 1_000_000


def stolen_recording():
    """Two workers share CPU 0, 100 ms each in turn, for 2 s; 40 ms of each are stolen."""
    world = Scenario("steal", {0: 0, 1: 0}, [Task(101, 101, "worker"), Task(102, 102, "worker")])
    world.wake(MS, 0, 101)
    world.wake(MS, 0, 102)
    world.switch(2 * MS, 0, 101)
    for i in range(1, 20):
        at = (2 + 100 * i) * MS
        world.switch(at, 0, 101 + i % 2, "R")
        world.add("steal", at + 1000, 0, ns=40 * MS)
    return own(world, {"measures": MEASURES_STEAL})
