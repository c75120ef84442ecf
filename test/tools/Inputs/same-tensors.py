#!/usr/bin/env python3
"""Fails unless two .safetensors files hold the same tensors, whatever their metadata say. usage: same-tensors.py A B [shared]

With `shared` only the parameters count that both have, and there are some."""
import json
import struct
import sys


def tensors(path):
    data = open(path, "rb").read()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    return {name: (entry["dtype"], entry["shape"], data[8 + size:][slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__"}


a, b = map(tensors, sys.argv[1:3])
names = a.keys() | b.keys()
if "shared" in sys.argv[3:]:
    names = {name for name in a.keys() & b.keys() if not name.startswith(("moment1.", "moment2.", "ema."))}
if not names:
    sys.exit("there is nothing to compare")
if different := sorted(name for name in names if a.get(name) != b.get(name)):
    sys.exit(f"differ: {', '.join(different)}")
