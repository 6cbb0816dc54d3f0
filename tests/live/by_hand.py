"""Recordings of problems that no machine can be made to have at will, by their names in plant.py."""
from stalled import stalled_recording
from stolen import stolen_recording

BY_HAND = {"steal": stolen_recording, "stall": stalled_recording}
