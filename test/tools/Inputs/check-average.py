"""The average that hybrid-run-ema.test keeps: at step 2 the parameters, at step 4 three quarters of the way to those of then."""
import json
import pathlib
import struct
import sys


def read(path):
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + size])
    return {name: struct.unpack(f"<{(e['data_offsets'][1] - e['data_offsets'][0]) // 4}f", data[8 + size + e["data_offsets"][0]:8 + size + e["data_offsets"][1]])
            for name, e in header.items() if name != "__metadata__"}


second, fourth = (read(f"{sys.argv[1]}/checkpoints/step-0000000{step}.safetensors") for step in (2, 4))
names = [name for name in second if "ema." + name in second]
assert names and len(names) == len([name for name in second if name.startswith("ema.")])
for name in names:
    assert second["ema." + name] == second[name], name
    want = [a + 0.75 * (b - a) for a, b in zip(second[name], fourth[name])]
    assert max(abs(x - y) for x, y in zip(fourth["ema." + name], want)) < 1e-6, name
assert any(fourth["ema." + name] != fourth[name] for name in names)
if len(sys.argv) > 2:
    other = read(f"{sys.argv[2]}/checkpoints/step-00000004.safetensors")
    assert other == fourth
