#!/usr/bin/env python3
"""validate_schema.py SCHEMA COMMAND...: runs COMMAND, holds each JSON line of its output against SCHEMA, in TAP.

Knows the part of JSON Schema 2020-12 that our schemas use: $ref inside the document, type, enum, minimum,
required, properties, additionalProperties, items, anyOf. A schema that uses more is refused. To prove that
it can fail, each line is also spoiled in three ways, all of which have to be refused.
"""
import copy
import json
import subprocess
import sys

KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "enum", "minimum", "required",
         "properties", "additionalProperties", "items", "anyOf"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "integer": int, "number": (int, float)}


def is_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def check_known(schema, where="#"):
    if isinstance(schema, bool):
        return
    unknown = set(schema) - KNOWN
    if unknown:
        sys.exit(f"{where}: this validator does not know {sorted(unknown)}")
    for key in ("properties", "$defs"):
        for name, sub in schema.get(key, {}).items():
            check_known(sub, f"{where}/{key}/{name}")
    for key in ("items", "additionalProperties"):
        check_known(schema.get(key, True), f"{where}/{key}")
    for sub in schema.get("anyOf", []):
        check_known(sub, f"{where}/anyOf")


class Validator:
    def __init__(self, root):
        check_known(root)
        self.root = root

    def resolve(self, schema):
        while "$ref" in schema:
            here = self.root
            for step in schema["$ref"].removeprefix("#/").split("/"):
                here = here[step]
            schema = here
        return schema

    def check_object(self, schema, value, where):
        for key in schema.get("required", []):
            if key not in value:
                yield f"{where}: '{key}' is missing"
        for key, sub in value.items():
            rule = schema.get("properties", {}).get(key, schema.get("additionalProperties", True))
            if rule is False:
                yield f"{where}: '{key}' is not described"
            elif rule is not True:
                yield from self.check(rule, sub, f"{where}/{key}")

    def check(self, schema, value, where=""):
        """Yields a sentence per fault."""
        schema = self.resolve(schema)
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(is_type(value, t) for t in types):
            yield f"{where}: {value!r} is not {' or '.join(types)}"
            return
        if "enum" in schema and value not in schema["enum"]:
            yield f"{where}: {value!r} is none of {schema['enum']}"
        if "minimum" in schema and is_type(value, "number") and value < schema["minimum"]:
            yield f"{where}: {value} is less than {schema['minimum']}"
        if "anyOf" in schema and all(any(self.check(s, value, where)) for s in schema["anyOf"]):
            yield f"{where}: fits none of the alternatives"
        if isinstance(value, dict):
            yield from self.check_object(schema, value, where)
        if isinstance(value, list) and "items" in schema:
            for i, sub in enumerate(value):
                yield from self.check(schema["items"], sub, f"{where}/{i}")


def objects(value):
    if isinstance(value, dict):
        yield value
    for sub in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from objects(sub)


def spoiled(document):
    """Copies of the document with one fault each."""
    for spoil in (lambda o: o.pop("count", None) is not None,
                  lambda o: "count" in o and o.update(count=-1) is None,
                  lambda o: "groups" in o and o["groups"].update(surprise=[]) is None):
        bad = copy.deepcopy(document)
        if any(spoil(o) for o in objects(bad)):
            yield bad


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        validator = Validator(json.load(f))
    lines = subprocess.run(sys.argv[2:], capture_output=True, check=True).stdout.decode().splitlines()
    failed = 0
    print(f"1..{2 * len(lines)}")
    for i, line in enumerate(lines):
        document = json.loads(line)
        faults = list(validator.check(validator.root, document))
        missed = sum(not any(validator.check(validator.root, bad)) for bad in spoiled(document))
        for fault in faults[:20]:
            print("#", fault)
        print("not ok" if faults else "ok", 2 * i + 1, f"- sample {i + 1} fits the schema")
        print("not ok" if missed else "ok", 2 * i + 2, f"- sample {i + 1}, spoiled, does not")
        failed += bool(faults) + bool(missed)
    return 1 if failed or not lines else 0


sys.exit(main())
