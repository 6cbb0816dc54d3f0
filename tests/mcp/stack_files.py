"""perf.data with stacks of functions of real files, written by hand: what a recorder writes, and what a hostile one could."""
import pathlib
import struct

MIB = 1 << 20
BASE = 0x7f0000000000
SPACE = 64 * MIB  # between two mappings
USER = 2
BUILD_ID = 1 << 14
SAMPLE_TYPE = 0x1 | 0x2 | 0x4 | 0x20 | 0x80  # address, task, time, stack, CPU
SAMPLE_ID_ALL = 1 << 18
CONTEXT_USER = 0xfffffffffffffe00


class Elf:
    """What readelf would print of a library: its build id, and the functions that it exports, by their places in the file."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.bytes = self.path.read_bytes()
        at, = struct.unpack_from("<Q", self.bytes, 0x28)
        size, nr = struct.unpack_from("<HH", self.bytes, 0x3a)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, at + i * size) for i in range(nr)]
        self.build_id = self.find_build_id()

    def find_build_id(self):
        for _, kind, _, _, at, size, *_ in self.sections:
            end = at + size
            while kind == 7 and at + 16 <= end:
                name, length, note = struct.unpack_from("<III", self.bytes, at)
                text = self.bytes[at + 12:at + 12 + name]
                at += 12 + (name + 3 & ~3)
                if note == 3 and text == b"GNU\0":
                    return self.bytes[at:at + length]
                at += length + 3 & ~3
        return b""

    def place(self, address):
        """In the file; None if nothing is loaded from there."""
        at, = struct.unpack_from("<Q", self.bytes, 0x20)
        size, nr = struct.unpack_from("<HH", self.bytes, 0x36)
        for i in range(nr):
            kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", self.bytes, at + i * size)
            if kind == 1 and start <= address < start + length:
                return address - start + offset
        return None

    def functions(self):
        """{name: place} of those of 64 bytes or more that have one name only."""
        names, places = {}, {}
        for _, kind, _, _, at, size, link, *_ in self.sections:
            texts = self.sections[link][4] if kind == 11 else 0
            for one in range(at, at + size, 24) if kind == 11 else ():
                text, info, _, section, address, length = struct.unpack_from("<IBBHQQ", self.bytes, one)
                if info & 15 == 2 and section and length >= 64:
                    end = self.bytes.index(b"\0", texts + text)
                    names.setdefault(address, set()).add(self.bytes[texts + text:end].decode())
        for address, all_names in names.items():
            if len(all_names) == 1 and self.place(address) is not None:
                places[all_names.pop()] = self.place(address)
        return places


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample_id(ts):
    return struct.pack("<IIQII", 100, 100, ts, 0, 0)


def mapping(nr, path, build_id):
    name = bytes(path) + b"\0"
    name += bytes(-len(name) % 8)
    body = struct.pack("<IIQQQBBH20sII", 100, 100, BASE + nr * SPACE, SPACE, 0, len(build_id), 0, 0, build_id, 5, 2)
    return record(10, USER | BUILD_ID, body + name + sample_id(1000 + nr))


def sample(ts, chain):
    body = struct.pack("<QIIQII", chain[0], 100, 100, ts, 0, 0)
    return record(9, USER, body + struct.pack(f"<Q{len(chain) + 1}Q", len(chain) + 1, CONTEXT_USER, *chain))


def perf_data(files, stacks):
    """files: (path, build id) each; stacks: lists of (file, place), the leaf first."""
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1_000_000, SAMPLE_TYPE, 0, SAMPLE_ID_ALL) + bytes(64) + bytes(16)
    data = record(3, 0, struct.pack("<II8s", 100, 100, b"victim") + sample_id(1))
    data += b"".join(mapping(nr, str(path).encode(), build_id) for nr, (path, build_id) in enumerate(files))
    data += b"".join(sample(10_000_000 * (1 + nr), [BASE + file * SPACE + place for file, place in chain])
                     for nr, chain in enumerate(stacks))
    head = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, 128, 104, 128, 104 + 128, len(data), 0, 0) + bytes(32)
    return head + attr + data
