"""Usage: cudnn.py BINARIES TESTS. Attention and its gradients by the tests' cuDNN are those of the CPU in f64, to the rounding of bf16, and a
model trains with them as with our own kernels."""

import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import npy  # noqa: E402

binaries, models = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
FORMS = (
    ("a head of 64", 2, 300, {"heads": 1, "kv_heads": 1, "keys": 300}, "auto"),
    ("rotated heads that share keys", 1, 40, {"heads": 4, "kv_heads": 2, "size": 16, "rotary": 16, "keys": 40}, "cudnn"),
    ("few queries of many keys", 2, 9, {"heads": 2, "kv_heads": 2, "size": 24, "causal": "false", "keys": 33}, "cudnn"),
)


def run(tool, *arguments):
    result = subprocess.run([binaries / tool, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode:
        sys.exit(f"{tool} {' '.join(map(str, arguments))}: exit status {result.returncode}\n{result.stderr}")
    return result.stdout


def compile_model(model, folder, name, *flags):
    run("hybridc", model, *flags, "-o", folder / f"{name}.hyx")
    return folder / f"{name}.hyx"


def worst(one, other):
    """The largest difference, in parts of the largest number."""
    return max(abs(a - b) for a, b in zip(one, other)) / max(map(abs, one))


def results(executable, inputs, typecode, out):
    arguments = []
    for role, tensors in inputs.items():
        for name, (shape, values) in tensors.items():
            path = out.parent / f"{role}-{name}-{typecode}.npy"
            npy.write_npy(path, npy.Tensor(shape, npy.array.array(typecode, values)))
            arguments += [f"--{role}", f"{name}={path}"]
    run("hybrid-run", "forward", executable, *arguments, "--out", out)
    return {path.stem: npy.read_npy(path).data for path in out.glob("*.npy")}


for what, batch, length, sizes, by in FORMS:
    with tempfile.TemporaryDirectory() as name:
        folder, generator = pathlib.Path(name), random.Random(1)
        flags = [f"--batch={batch}", f"--length={length}", *(word for key, value in sizes.items() for word in ("--set", f"{key}={value}"))]
        heads, kv_heads, size, keys = sizes["heads"], sizes["kv_heads"], sizes.get("size", 64), sizes["keys"]

        def tensor(rows, columns):
            return (batch, rows, columns), [generator.gauss(0, 1) for _ in range(batch * rows * columns)]

        inputs = {"input": {"q": tensor(length, heads * size), "k": tensor(keys, kv_heads * size), "v": tensor(keys, kv_heads * size)},
                  "cotangent": {"y": tensor(length, heads * size)}}
        source = models / "cudnn-attention.hyb"
        exact = results(compile_model(source, folder, "cpu", *flags, "--precision=f64"), inputs, "d", folder / "exact")
        library = compile_model(source, folder, "cudnn", *flags, "--precision=bf16", "--target=cuda:shim", f"--attention={by}")
        assert "needs       cuDNN" in run("hybrid-run", "info", library), what
        found = results(library, inputs, "f", folder / "found")
        assert exact.keys() == found.keys() and len(found) == 4, found.keys()
        error = max(worst(exact[key], found[key]) for key in exact)
        print(f"{what}: {'agrees' if error < 2e-2 else f'differs by {error:.1e}'}")

with tempfile.TemporaryDirectory() as name:
    folder, generator = pathlib.Path(name), random.Random(2)
    flags = ["--batch=2", "--length=40", "--set", "width=32", "--set", "heads=2", "--set", "inner=24", "--precision=bf16", "--target=cuda:shim"]
    inputs = []
    for kind in ("tokens", "targets"):
        npy.write_npy(folder / f"{kind}.npy", npy.Tensor((2, 40), npy.array.array("i", (generator.randrange(16) for _ in range(80)))))
        inputs += ["--input", f"{kind}={folder / kind}.npy"]
    trained = {}
    for by in ("own", "cudnn"):
        executable = compile_model(models.parent.parent.parent / "models" / "mad" / "attention-swiglu.hyb", folder, by, *flags, f"--attention={by}")
        assert ("needs       cuBLASLt, cuDNN" in run("hybrid-run", "info", executable)) == (by == "cudnn")
        run("hybrid-run", "replay", executable, "--init-seed", 3, *inputs, "--steps", 4, "--lr", "1e-2", "--out", folder / f"out-{by}")
        trained[by] = {path.name: npy.read_npy(path).data for path in (folder / f"out-{by}").glob("*.npy")}
    assert trained["own"].keys() == trained["cudnn"].keys()
    losses = [key for key in trained["own"] if "loss" in key]
    assert losses, trained["own"].keys()
    error = max(worst(trained["own"][key], trained["cudnn"][key]) for key in losses)
    print(f"training: {'agrees' if error < 1e-3 else f'differs by {error:.1e}'}")
