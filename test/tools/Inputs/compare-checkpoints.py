"""compare-checkpoints.py A B TOLERANCE: parameters and moments of two checkpoints in f64 agree to the tolerance, and are not all the same bits."""
import json
import struct
import sys


def tensors(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__")
    return {name: struct.unpack(f"<{(t['data_offsets'][1] - t['data_offsets'][0]) // 8}d", data[8 + size + t["data_offsets"][0] : 8 + size + t["data_offsets"][1]])
            for name, t in header.items() if t["dtype"] == "F64"}


first, second = tensors(sys.argv[1]), tensors(sys.argv[2])
assert first and first.keys() == second.keys(), (first.keys(), second.keys())
worst = max(abs(a - b) for name in first for a, b in zip(first[name], second[name], strict=True))
assert 0 < worst < float(sys.argv[3]), worst
