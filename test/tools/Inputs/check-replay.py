"""The two steps of hybrid-run-replay.test, by hand."""
import os
import struct
import sys


def read(name):
    with open(os.path.join(sys.argv[1], name + ".npy"), "rb") as file:
        data = file.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return struct.unpack(f"<{(len(data) - start) // 8}d", data[start:])


def close(name, want):
    got = read(name)
    assert len(got) == len(want) and all(abs(a - b) < 1e-12 for a, b in zip(got, want)), (name, got)


close("lr", [0.5, 0.5])
close("grad_norm", [5, 5])
close("loss", [3 - 4, 3 * 0.5 - 4 * 1.5])
close("trajectory.p", [0.5, 1.5, 0, 2])
close("final.p", [0, 2])
close("m.p", [0.19 * 3, 0.19 * -4])
close("v.p", [(1 - 0.98**2) * 9, (1 - 0.98**2) * 16])
