"""Protobuf and containers, written out by hand: shares nothing with src/trace or with decode.py."""
import gzip
import shutil
import struct
import subprocess
import zlib


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(field, wire):
    return varint(field << 3 | wire)


def num(field, value):
    """A varint; negative ones take ten bytes. None is left out."""
    return b"" if value is None else tag(field, 0) + varint(value)


def fixed(field, value):
    return tag(field, 1) + struct.pack("<Q", value)


def real(field, value):
    return tag(field, 1) + struct.pack("<d", value)


def text(field, value):
    if value is None:
        return b""
    data = value if isinstance(value, bytes) else value.encode()
    return tag(field, 2) + varint(len(data)) + data


def msg(field, *parts):
    return text(field, b"".join(parts))


def packed(field, values):
    return text(field, b"".join(map(varint, values)))


def packet(*parts):
    """One TracePacket as it stands in a file."""
    return msg(1, *parts)


def zlib_packet(packets):
    return packet(text(50, zlib.compress(packets)))


def zstd_frame(data):
    """By the program if there is one, else as a frame of stored blocks."""
    if shutil.which("zstd"):
        return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout
    return zstd_stored(data)


def zstd_stored(data):
    # Magic, a descriptor that says "content size in 4 bytes, single segment", then raw blocks of at most 100 kB.
    blocks = [data[at:at + 100_000] for at in range(0, len(data), 100_000)] or [b""]
    out = [b"\x28\xb5\x2f\xfd", b"\xa0", struct.pack("<I", len(data))]
    for i, block in enumerate(blocks):
        head = len(block) << 3 | (i == len(blocks) - 1)
        out += [struct.pack("<I", head)[:3], block]
    return b"".join(out)


def zstd_packet(packets, stored=False):
    return packet(text(133, (zstd_stored if stored else zstd_frame)(packets)))


def gzip_members(data, nr):
    """The file as nr members of gzip, cut anywhere."""
    step = max(1, -(-len(data) // nr))
    return b"".join(gzip.compress(data[at:at + step], mtime=0) for at in range(0, max(1, len(data)), step))
