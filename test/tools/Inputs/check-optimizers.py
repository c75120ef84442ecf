"""What hybrid-run-optimizers.test compares: see there."""
import math
import pathlib
import random
import struct
import sys

SHAPES = {"a": (3, 3), "b": (5,), "c": (7,), "d": (4, 2)}
STEPS = 6


def read(path):
    data = pathlib.Path(path).read_bytes()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return struct.unpack(f"<{(len(data) - start) // 8}d", data[start:])


def write(path, shape, values):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}d", *values))


def close(what, got, want, tolerance=1e-12):
    assert len(got) == len(want), (what, len(got), len(want))
    assert all(abs(x - y) <= tolerance * max(1, abs(y)) for x, y in zip(got, want)), (what, got, want)


def gradients(folder):
    draw = random.Random(1)
    for name, shape in SHAPES.items():
        write(f"{folder}/g{name}.npy", (STEPS, *shape), [draw.uniform(-1, 1) for _ in range(STEPS * math.prod(shape))])


def same(one, other):
    names = sorted(path.name for path in pathlib.Path(one).iterdir())
    assert names == sorted(path.name for path in pathlib.Path(other).iterdir()) and "trajectory.a.npy" in names, names
    for name in names:
        close(name, read(f"{other}/{name}"), read(f"{one}/{name}"))


def groups(folder):
    gradient = {name: read(f"{folder}/g{name}.npy")[:math.prod(shape)] for name, shape in SHAPES.items()}
    close("norm", read(f"{folder}/groups/grad_norm.npy"), [math.sqrt(sum(g * g for values in gradient.values() for g in values))])
    final = {name: read(f"{folder}/groups/final.{name}.npy") for name in SHAPES}
    close("b", final["b"], [i - 0.1 * g for i, g in enumerate(gradient["b"])])
    close("c", final["c"], [1 - 0.05 * g for g in gradient["c"]])
    close("d", final["d"], [1 + i % 2 - 0.25 * g for i, g in enumerate(gradient["d"])])
    close("m.a", read(f"{folder}/groups/m.a.npy"), [0.05 * g for g in gradient["a"]])
    step = [(i % 3 - value) / 0.1 for i, value in enumerate(final["a"])]
    # Nearly orthogonal: its squares sum to about its rank, three, and it goes where the gradient does.
    assert 1 < sum(value * value for value in step) < 4.5 and sum(x * y for x, y in zip(step, gradient["a"])) > 0, step


globals()[sys.argv[1]](*sys.argv[2:])
