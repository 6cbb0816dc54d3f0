#!/usr/bin/env python3
"""byteswap.py IN OUT: a perf.data file of a little-endian machine, as a big-endian machine would have written it.

Everything that has an order of bytes is swapped: the header, attributes (their bit fields bit by bit, as compilers lay them out), records, raw
data of tracepoints by the formats that the file carries, sections behind the data. Sections whose layout is not known here are left
out. Made for tests: there is no big-endian machine to record on. `perf script` (6.1) prints the same for both, but for the protection of
mappings, which it does not swap.
"""
import re
import struct
import sys

LITTLE, BIG = "<", ">"
MMAP2_BUILD_ID = 1 << 14
SAMPLE = {name: 1 << bit for bit, name in enumerate(
    ("ip", "tid", "time", "addr", "read", "callchain", "id", "cpu", "period", "stream", "raw"))}
IDENTIFIER, CGROUP = 1 << 16, 1 << 21
KNOWN_SAMPLE = sum(SAMPLE.values()) - SAMPLE["read"] | IDENTIFIER | CGROUP
SAMPLE_ID_ALL = 1 << 18
FIELD = re.compile(r"^\s*field:(.*?)(\w+)(\[[^\]]*\])?;\s*offset:(\d+);\s*size:(\d+);", re.M)
# Of the sections behind the data, what they consist of; * = to the end of it.
STRING, U32, U64 = "s", "I", "Q"
SECTIONS = {3: "s", 4: "s", 5: "s", 6: "s", 7: "II", 8: "s", 9: "s", 10: "Q", 21: "QQ", 23: "Q", 29: "IIQQ"}
TRACING_DATA, BUILD_IDS, CMDLINE, EVENT_DESC = 1, 2, 11, 12


class Bytes:
    """The file; swaps in place."""

    def __init__(self, data):
        self.data = bytearray(data)

    def swap(self, at, kind):
        """Of the number at this place; its value."""
        size = struct.calcsize(LITTLE + kind)
        value, = struct.unpack_from(LITTLE + kind, self.data, at)
        struct.pack_into(BIG + kind, self.data, at, value)
        return value, at + size

    def swap_all(self, at, kinds):
        values = []
        for kind in kinds:
            value, at = self.swap(at, kind)
            values.append(value)
        return values, at

    def string(self, at):
        """A length, and as many bytes."""
        size, at = self.swap(at, U32)
        return at + size

    def peek(self, at, kind):
        return struct.unpack_from(LITTLE + kind, self.data, at)[0]


def text_of(data, at):
    end = data.index(0, at)
    return data[at:end].decode(), end + 1


class Formats:
    """Swaps the tracing data: formats of events, with their sizes; keeps the fields of each."""

    def __init__(self):
        self.fields = {}

    def swap(self, file, at):
        """Its end."""
        assert file.data[at:at + 10] == b"\x17\x08\x44tracing", "no tracing data"
        _, at = text_of(file.data, at + 10)
        assert file.data[at] == 0, "not of a little-endian machine"
        file.data[at] = 1
        _, at = file.swap(at + 2, U32)
        for _ in range(2):  # header_page, header_event
            _, at = text_of(file.data, at)
            at = self._sized(file, at, U64)
        number, at = file.swap(at, U32)
        for _ in range(number):
            at = self._format(file, at)
        systems, at = file.swap(at, U32)
        for _ in range(systems):
            _, at = text_of(file.data, at)
            number, at = file.swap(at, U32)
            for _ in range(number):
                at = self._format(file, at)
        at = self._sized(file, at, U32)         # kallsyms
        at = self._sized(file, at, U32)         # printk formats
        return self._sized(file, at, U64)       # saved_cmdlines

    @staticmethod
    def _sized(file, at, kind):
        size, at = file.swap(at, kind)
        return at + size

    def _format(self, file, at):
        size, at = file.swap(at, U64)
        text = file.data[at:at + size].decode()
        number = int(re.search(r"^ID: (\d+)", text, re.M)[1])
        self.fields[number] = [(kind + (array or ""), int(offset), int(length))
                               for kind, _, array, offset, length in FIELD.findall(text)]
        return at + size

    def swap_raw(self, file, at, size):
        """The fields of an event, numbers by their sizes; strings have none."""
        for kind, offset, length in self.fields[file.peek(at, "H")]:
            if not length or offset + length > size:
                continue
            array = re.search(r"\[(\w*)\]", kind)
            is_location = "__data_loc" in kind or "__rel_loc" in kind
            if array and not is_location:
                if re.search(r"\b(char|u8|__u8)\b", kind):
                    continue
                assert array[1].isdigit(), f"an array of unknown length: {kind}"
                each = length // int(array[1])
            else:
                each = length
            if is_location:
                assert re.search(r"\b(char|u8|__u8)\b", kind), f"dynamic data that are no text: {kind}"
            if each > 1:
                for place in range(at + offset, at + offset + length, each):
                    file.swap(place, {2: "H", 4: "I", 8: "Q"}[each])


class Attr:
    """Swaps an attribute; what of it says how its samples are laid out."""

    def __init__(self, file, at):
        kinds = "IIQQQQ"
        (_, self.size, _, _, self.sample_type, self.read_format), bits_at = file.swap_all(at, kinds)
        bits = file.peek(bits_at, "Q")
        for place in range(bits_at, bits_at + 8):
            file.data[place] = int(f"{file.data[place]:08b}"[::-1], 2)
        self.has_id_all = bool(bits & SAMPLE_ID_ALL)
        place = bits_at + 8
        for kind in "IIQQQQIIQIHHIIQQ":
            if place + struct.calcsize(kind) > at + self.size:
                break
            _, place = file.swap(place, kind)
        assert not self.sample_type & ~KNOWN_SAMPLE, f"samples of type {self.sample_type:#x} are not known here"


class PerfData:
    """The whole file, or what a pipe has got."""

    def __init__(self, data):
        self.file, self.formats = Bytes(data), Formats()
        self.attrs, self.by_id = [], {}
        assert self.file.data[:8] == b"PERFILE2", "not a perf.data file of a little-endian machine"

    def swapped(self):
        """The bytes."""
        file = self.file
        _, size, attr_size = file.swap_all(0, "QQQ")[0]
        if size == 16:
            raise SystemExit("files of a pipe are not known here")
        (attrs_at, attrs_size, data_at, data_size, _, _), at = file.swap_all(24, "QQQQQQ")
        flags = sum(file.peek(at + 8 * word, "Q") << 64 * word for word in range(4))
        for place in range(attrs_at, attrs_at + attrs_size, attr_size):
            attr = Attr(file, place)
            (ids_at, ids_size), _ = file.swap_all(place + attr_size - 16, "QQ")
            for where in range(ids_at, ids_at + ids_size, 8):
                self.by_id[file.swap(where, "Q")[0]] = attr
            self.attrs.append(attr)
        kept = self._sections(data_at + data_size, [bit for bit in range(256) if flags >> bit & 1])
        flags = sum(1 << bit for bit in kept)
        for word in range(4):
            struct.pack_into(BIG + "Q", file.data, at + 8 * word, flags >> 64 * word & (1 << 64) - 1)
        self._records(data_at, data_at + data_size)
        return bytes(file.data)

    def _sections(self, table_at, bits):
        """Those that stay; their places come first in the table."""
        file, kept, places = self.file, [], []
        for number, bit in enumerate(bits):
            at, size = (file.peek(table_at + 16 * number + 8 * part, "Q") for part in (0, 1))
            if self._section(bit, at, size):
                kept.append(bit)
                places.append((at, size))
        for number, (at, size) in enumerate(places):
            struct.pack_into(BIG + "QQ", file.data, table_at + 16 * number, at, size)
        return kept

    def _section(self, bit, at, size):
        file, end = self.file, at + size
        if bit == TRACING_DATA:
            self.formats.swap(file, at)
        elif bit == BUILD_IDS:
            while at < end:
                (_, _, length, _), _ = file.swap_all(at, "IHHI")
                at += length
        elif bit == CMDLINE:
            number, at = file.swap(at, U32)
            for _ in range(number):
                at = file.string(at)
        elif bit == EVENT_DESC:
            (number, attr_size), at = file.swap_all(at, "II")
            for _ in range(number):
                Attr(file, at)
                ids, at = file.swap(at + attr_size, U32)
                at = file.string(at)
                _, at = file.swap_all(at, "Q" * ids)
        elif bit in SECTIONS:
            for kind in SECTIONS[bit]:
                at = file.string(at) if kind == STRING else file.swap(at, kind)[1]
        else:
            return False
        return True

    def _records(self, at, end):
        while at < end:
            (kind, misc, size), body = self.file.swap_all(at, "IHH")
            assert size >= 8, f"a record of {size} bytes"
            getattr(self, f"_on_{kind}", self._on_unknown)(body, at + size, misc)
            at += size

    def _on_unknown(self, at, _end, _misc):
        raise SystemExit(f"a record of type {self.file.data[at - 5]} is not known here")

    def _id_part(self, end):
        """What follows the records of the kernel, read from their end; where it begins."""
        attr = self.attrs[0]
        if not attr.has_id_all:
            return end
        kinds = [(SAMPLE["tid"], "II"), (SAMPLE["time"], "Q"), (SAMPLE["id"], "Q"), (SAMPLE["stream"], "Q"), (SAMPLE["cpu"], "II"),
                 (IDENTIFIER, "Q")]
        kinds = "".join(kind for bit, kind in kinds if attr.sample_type & bit)
        start = end - struct.calcsize(LITTLE + kinds)
        self.file.swap_all(start, kinds)
        return start

    def _simple(self, at, end, kinds):
        self.file.swap_all(at, kinds)
        self._id_part(end)

    def _on_1(self, at, end, _misc):  # MMAP
        self._simple(at, end, "IIQQQ")

    def _on_2(self, at, end, _misc):  # LOST
        self._simple(at, end, "QQ")

    def _on_3(self, at, end, _misc):  # COMM
        self._simple(at, end, "II")

    def _on_4(self, at, end, _misc):  # EXIT
        self._simple(at, end, "IIIIQ")

    _on_7 = _on_4  # FORK

    def _on_5(self, at, end, _misc):  # THROTTLE
        self._simple(at, end, "QQQ")

    _on_6 = _on_5  # UNTHROTTLE

    def _on_10(self, at, end, misc):  # MMAP2
        _, at = self.file.swap_all(at, "IIQQQ")
        if not misc & MMAP2_BUILD_ID:
            self.file.swap_all(at, "IIQQ")
        self._simple(at + 24, end, "II")

    def _on_13(self, at, end, _misc):  # LOST_SAMPLES
        self._simple(at, end, "Q")

    def _on_14(self, at, end, _misc):  # SWITCH
        self._simple(at, end, "")

    def _on_15(self, at, end, _misc):  # SWITCH_CPU_WIDE
        self._simple(at, end, "II")

    def _on_17(self, at, end, _misc):  # KSYMBOL
        self._simple(at, end, "QIHH")

    def _on_18(self, at, end, _misc):  # BPF_EVENT
        self._simple(at, end, "HHI")

    def _on_19(self, at, end, _misc):  # CGROUP
        self._simple(at, end, "Q")

    def _on_68(self, _at, _end, _misc):  # FINISHED_ROUND
        pass

    _on_82 = _on_68  # FINISHED_INIT

    def _on_69(self, at, _end, _misc):  # ID_INDEX
        number, at = self.file.swap(at, "Q")
        self.file.swap_all(at, "QQQQ" * number)

    def _on_73(self, at, _end, _misc):  # THREAD_MAP
        number, at = self.file.swap(at, "Q")
        for place in range(at, at + 24 * number, 24):
            self.file.swap(place, "Q")

    def _on_74(self, at, _end, _misc):  # CPU_MAP
        kind, at = self.file.swap(at, "H")
        assert kind in (0, 1, 2), f"a map of CPUs of kind {kind}"
        if kind == 2:  # a range; two single bytes, then the first and the last
            self.file.swap_all(at + 2, "HH")
            return
        number, at = self.file.swap(at, "H")
        if kind == 0:
            self.file.swap_all(at, "H" * number)
        else:
            size, at = self.file.swap(at, "H")
            assert size == 8, f"a mask of words of {size} bytes"
            at += -at % 8
            self.file.swap_all(at, "Q" * number)

    def _on_78(self, at, end, _misc):  # EVENT_UPDATE
        (kind, _), at = self.file.swap_all(at, "QQ")
        assert kind in (0, 1, 2, 3)
        if kind == 3:  # CPUs
            self._on_74(at, end, 0)
        elif kind == 1:
            self.file.swap(at, "Q")

    def _on_79(self, at, end, _misc):  # TIME_CONV
        kinds = "QQQQQ" if end - at >= 40 else "QQQ"
        self.file.swap_all(at, kinds)

    def _on_9(self, at, _end, _misc):  # SAMPLE
        file, attr = self.file, self.attrs[0]
        if any(other.sample_type != attr.sample_type for other in self.attrs):
            assert attr.sample_type & IDENTIFIER, "samples of several kinds without identifiers"
            attr = self.by_id[file.peek(at, "Q")]
        for bit, kinds in ((IDENTIFIER, "Q"), (SAMPLE["ip"], "Q"), (SAMPLE["tid"], "II"), (SAMPLE["time"], "Q"), (SAMPLE["addr"], "Q"),
                           (SAMPLE["id"], "Q"), (SAMPLE["stream"], "Q"), (SAMPLE["cpu"], "II"), (SAMPLE["period"], "Q")):
            if attr.sample_type & bit:
                _, at = file.swap_all(at, kinds)
        if attr.sample_type & SAMPLE["callchain"]:
            number, at = file.swap(at, "Q")
            _, at = file.swap_all(at, "Q" * number)
        if attr.sample_type & SAMPLE["raw"]:
            size, at = file.swap(at, U32)
            self.formats.swap_raw(file, at, size)
            at += size
        if attr.sample_type & CGROUP:
            file.swap(at, "Q")


def main():
    """Command line."""
    with open(sys.argv[1], "rb") as file:
        swapped = PerfData(file.read()).swapped()
    with open(sys.argv[2], "wb") as file:
        file.write(swapped)


if __name__ == "__main__":
    main()
