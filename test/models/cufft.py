"""Usage: cufft.py BINARIES TESTS. Transforms, and convolutions by them, of the tests' cuFFT are those of the CPU in f64, and their gradients;
a convolution in two dimensions is the sum that defines it."""

import itertools
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import npy  # noqa: E402

binaries, models = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
FORMS = (
    # What, model, sizes, batch, length, who, whether that is cuFFT
    ("spectra of 1155 points", "spectra", {"points": 1155, "channels": 2}, 1, 1, "auto", True),
    ("spectra of 256 points", "spectra", {"points": 256, "channels": 2}, 1, 1, "auto", False),
    ("spectra of a prime number of points", "spectra", {"points": 211, "channels": 3}, 1, 1, "cufft", True),
    ("a convolution of an odd length", "convolution", {"taps": 735, "channels": 3}, 2, 735, "cufft", True),
    ("a convolution of one sequence, by few taps", "convolution", {"taps": 5, "channels": 2}, 1, 33, "cufft", True),
    ("a convolution of our own", "convolution", {"taps": 735, "channels": 3}, 2, 735, "auto", False),
    ("a convolution in two dimensions", "image", {"height": 7, "columns": 9, "rows": 5, "taps": 9, "channels": 2}, 2, 1, "cufft", True),
    ("a convolution in two dimensions of our own", "image", {"height": 7, "columns": 9, "rows": 7, "taps": 4, "channels": 2}, 2, 1, "auto", False),
)


def run(tool, *arguments):
    result = subprocess.run([binaries / tool, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode:
        sys.exit(f"{tool} {' '.join(map(str, arguments))}: exit status {result.returncode}\n{result.stderr}")
    return result.stdout


def worst(one, other):
    """The largest difference, in parts of the largest number."""
    return max(abs(a - b) for a, b in zip(one, other)) / max(map(abs, one))


def shapes(model, sizes, batch, length):
    """Of inputs, and of outputs."""
    channels = sizes["channels"]
    if model == "spectra":
        real, bins = (sizes["points"], channels), (sizes["points"] // 2 + 1, channels)
        return {"x": real, "gain": bins}, {"half": bins, "y": real}
    if model == "convolution":
        x = (batch, length, channels)
        return {"x": x, "filter": (sizes["taps"], channels), "gate": x}, {"y": x}
    x = (batch, sizes["height"], sizes["columns"], channels)
    return {"x": x, "filter": (sizes["rows"], sizes["taps"], channels)}, {"y": x}


def by_definition(x, filter, batch, height, columns, rows, taps, channels):
    """The convolution in two dimensions, in the order of memory."""
    for b, i, j, c in itertools.product(range(batch), range(height), range(columns), range(channels)):
        yield sum(filter[(k * taps + m) * channels + c] * x[((b * height + i - k) * columns + j - m) * channels + c]
                  for k in range(min(rows, i + 1)) for m in range(min(taps, j + 1)))


for what, model, sizes, batch, length, by, is_library in FORMS:
    with tempfile.TemporaryDirectory() as name:
        folder, generator = pathlib.Path(name), random.Random(1)
        flags = ["--model", model, f"--batch={batch}", f"--length={length}", *(word for key, value in sizes.items() for word in ("--set", f"{key}={value}"))]
        inputs, outputs = shapes(model, sizes, batch, length)
        roles = {}
        for role, tensors in (("input", inputs), ("cotangent", outputs)):
            for key, shape in tensors.items():
                count = 1
                for size in shape:
                    count *= size
                roles[role, key] = shape, [generator.gauss(0, 1) for _ in range(count)]

        def results(typecode, out, *more):
            executable = folder / f"{out}.hyx"
            run("hybridc", models / "cufft-transforms.hyb", *flags, *more, "-o", executable)
            arguments = []
            for (role, key), (shape, values) in roles.items():
                path = folder / f"{role}-{key}-{typecode}.npy"
                npy.write_npy(path, npy.Tensor(shape, npy.array.array(typecode, values)))
                arguments += [f"--{role}", f"{key}={path}"]
            run("hybrid-run", "forward", executable, *arguments, "--out", folder / out)
            return executable, {path.stem: npy.read_npy(path).data for path in (folder / out).glob("*.npy")}

        _, exact = results("d", "exact", "--precision=f64")
        executable, found = results("f", "found", "--target=cuda:shim", f"--transforms={by}")
        assert ("cuFFT" in run("hybrid-run", "info", executable)) == is_library, what
        assert exact.keys() == found.keys() and len(found) == len(inputs) + len(outputs), found.keys()
        error = max(worst(exact[key], found[key]) for key in exact)
        if model == "image":
            error = max(error, worst(list(by_definition(roles["input", "x"][1], roles["input", "filter"][1], batch, **sizes)), found["output.y"]))
        print(f"{what}: {'agrees' if error < 1e-5 else f'differs by {error:.1e}'}")
