"""Copies parameters, one tensor of which becomes NaN: not-a-number.py FROM TO NAME"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "golden"))
import npy

source, target, name = sys.argv[1:]
tensors = npy.read_safetensors(source)
data = tensors[name].data
data[:] = type(data)(data.typecode, [float("nan")] * len(data))
npy.write_safetensors(target, tensors)
