"""The footer of a Parquet file, by the description of the format alone: Thrift's compact protocol as dicts of field numbers."""
TYPES = {0: "boolean", 2: "int64", 5: "double", 6: "byte_array"}
ENCODINGS = {0: "PLAIN", 3: "RLE", 5: "DELTA_BINARY_PACKED", 8: "RLE_DICTIONARY"}


class Reader:
    """Bytes from a place on."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            nr = self.varint()
            self.at += nr
            assert self.at <= len(self.data)
            return self.data[self.at - nr:self.at]
        if kind == 9:
            head = self.byte()
            nr = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(nr)]
        assert kind == 12, kind
        fields, field = {}, 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.zigzag()
            fields[field] = self.value(head & 15)
        return fields


def read(path):
    """Rows, notes, columns with their types, and what each row group says of each."""
    data = path.read_bytes()
    assert data[:4] == data[-4:] == b"PAR1", f"{path} is not whole"
    nr = int.from_bytes(data[-8:-4], "little")
    reader = Reader(data[len(data) - 8 - nr:-8])
    root = reader.value(12)
    assert reader.at == nr
    columns = {field[4].decode(): {"type": TYPES[field[1]], "is_required": field[3] == 0, "is_text": 1 in field.get(10, {})} for field in root[2][1:]}
    for group in root[4]:
        for name, chunk in zip(columns, group[1]):
            meta = chunk[3]
            assert meta[3] == [name.encode()] and meta[4] == 6, "not zstd"
            columns[name].setdefault("encodings", set()).update(ENCODINGS[e] for e in meta[2])
            columns[name].setdefault("stats", []).append(meta[12])
    return {"rows": root[3], "groups": len(root[4]), "columns": columns, "writer": root[6].decode(),
            "notes": {note[1].decode(): note[2].decode() for note in root.get(5, [])}}
