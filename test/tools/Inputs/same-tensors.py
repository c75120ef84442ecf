#!/usr/bin/env python3
"""Fails unless two .safetensors files hold the same tensors, whatever their metadata say. usage: same-tensors.py A B [PATTERN]

With a pattern (* and ?) those of other names are left out; one that no name has is a failure, too."""
import fnmatch
import json
import struct
import sys


def tensors(path, pattern):
    data = open(path, "rb").read()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    found = {name: (entry["dtype"], entry["shape"], data[8 + size:][slice(*entry["data_offsets"])])
             for name, entry in header.items() if name != "__metadata__" and fnmatch.fnmatchcase(name, pattern)}
    if not found:
        sys.exit(f"{path} has no tensor {pattern}")
    return found


pattern = sys.argv[3] if len(sys.argv) > 3 else "*"
a, b = (tensors(path, pattern) for path in sys.argv[1:3])
if different := sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name)):
    sys.exit(f"differ: {', '.join(different)}")
