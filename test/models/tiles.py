"""Usage: tiles.py BINARIES MODELS [cuda]. Training in small tiles of rows, the last one smaller, is training all rows at once: same losses and
parameters. With `cuda`, on the tests' driver, against all rows at once on the CPU."""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import npy  # noqa: E402

binaries, models = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
BATCH, LENGTH, STEPS = 3, 50, 2  # 150 rows: four tiles of 32 and one of 22, two of 64 and one of 22
SMALL = ["width=16", "heads=2", "inner=24"]


def run(tool, *arguments):
    result = subprocess.run([binaries / tool, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode:
        sys.exit(f"{tool} {' '.join(map(str, arguments))}: exit status {result.returncode}\n{result.stderr}")
    return result.stdout


def initial(executable, inputs, folder):
    """A file of the parameters as one device draws them: another one's logarithms and sines may differ in the last bit."""
    file = folder / "initial.safetensors"
    if not file.exists():
        run("hybrid-run", "replay", executable, "--init-seed", "3", *inputs, "--steps", 1, "--lr", "1e-12", "--min-lr", "1e-12", "--weight-decay", 0, "--out", folder / "initial")
        npy.write_safetensors(file, {path.name[len("final."):-len(".npy")]: npy.read_npy(path) for path in (folder / "initial").glob("final.*.npy")})
    return file


def trained(name, settings, folder, tiles, threads, device="cpu", batch=BATCH, length=LENGTH):
    """Everything that `replay` writes after a few updates, in tiles of so many rows, 0 for none, and how many loops over them there are."""
    gradients, scheduled, executable = folder / "grad.mlir", folder / f"{device}-{tiles}.mlir", folder / f"{device}-{tiles}.hyx"
    flags = [flag for setting in settings for flag in ("--set", setting)]
    run("hybridc", models / f"{name}.hyb", "--emit=grad", "--precision=f64", f"--batch={batch}", f"--length={length}", *flags, "-o", gradients)
    tiling = f"hybrid-tile-rows{{min-rows=8 max-tile={tiles} max-sequential-tile={2 * tiles}}}," if tiles else ""
    run("hybrid-opt", gradients, f"--pass-pipeline=builtin.module(func.func(hybrid-fuse-elementwise,{tiling}cse),hybrid-schedule-{device})", "-o", scheduled)
    run("hybridc", scheduled, "--target", "cuda:shim" if device == "cuda" else "cpu", "-o", executable)
    generator = random.Random(1)
    inputs = []
    for kind in ("tokens", "targets"):
        # Targets that are not scored as well.
        ids = npy.array.array("i", (-100 if kind == "targets" and i % 7 == 0 else generator.randrange(16) for i in range(batch * length)))
        npy.write_npy(folder / f"{kind}.npy", npy.Tensor((batch, length), ids))
        inputs += ["--input", f"{kind}={folder / kind}.npy"]
    out = folder / f"out-{device}-{tiles}-{threads}"
    run("hybrid-run", "replay", executable, "--params", initial(executable, inputs, folder), *inputs, "--steps", STEPS, "--lr", "1e-2", "--threads", threads, "--out", out)
    text = scheduled.read_text()
    return {path.name: npy.read_npy(path).data for path in out.glob("*.npy")}, text.count("schedule.tile_loop"), text


def compare(what, one, other):
    assert one.keys() == other.keys()
    # Sums over rows are taken in another order; AdamW divides by small numbers.
    worst = max(abs(a - b) / (1e-3 + abs(a)) for key in one for a, b in zip(one[key], other[key]))
    print(f"{what}: {'agrees' if worst < 1e-8 else f'differs by {worst:.1e}'}")


MODELS = (("attention-swiglu", SMALL), ("attention-mlp", SMALL), ("hyena-swiglu", ["width=16", "inner=24"]), ("rwkv", ["width=16"]),
          ("gated-linear-attention-swiglu", ["width=16", "inner=24"]))
WHOLE_ON_CUDA = (("mamba", ["width=16"]), ("attention-moe", SMALL[:2]), ("rwkv6", ["width=64"]), ("multihead-hyena-swiglu", ["width=16", "inner=24"]),
                 ("hyena-experts-moe", ["width=16"]), ("sliding-attention-swiglu", SMALL))
cuda = "cuda" in sys.argv[3:]
os.environ["HYBRID_SHIM_OPTIMIZE"] = "0"  # of what `cuda` compiles: to optimise its kernels takes longer than to run them
for name, settings in MODELS + (WHOLE_ON_CUDA if cuda else ()):
    with tempfile.TemporaryDirectory() as folder:
        whole, none, _ = trained(name, settings, pathlib.Path(folder), 0, 1)
        if cuda:
            compare(f"{name} on CUDA", whole, trained(name, settings, pathlib.Path(folder), 0, 1, "cuda")[0])
        if (name, settings) not in MODELS:
            continue
        for threads in (1,) if cuda else (1, 2):
            tiled, loops, _ = trained(name, settings, pathlib.Path(folder), 32, threads, "cuda" if cuda else "cpu")
            assert none == 0 and loops > 0
            compare(f"{name}, tiles on CUDA" if cuda else f"{name}, {threads} threads", whole, tiled)

# Four tiles of 96 rows and one of 16: items of a tile are 12 rows or all of it, no power of two.
name, settings = MODELS[0]
with tempfile.TemporaryDirectory() as folder:
    whole = trained(name, settings, pathlib.Path(folder), 0, 1, batch=8)[0]
    tiled, _, text = trained(name, settings, pathlib.Path(folder), 96, 1, "cuda" if cuda else "cpu", batch=8)
    assert "schedule.tile_loop 400 by 96" in text
    compare(f"{name}, tiles of 96 rows{' on CUDA' if cuda else ''}", whole, tiled)

# One long sequence: scans are divided over time, and convolutions go through memory in two passes.
LONG = (("rwkv", ["width=8"], 1024, "softmaxScanSummary"), ("mamba", ["width=8"], 1024, "selectiveScanSummary"),
        ("gated-linear-attention-swiglu", ["width=16", "inner=16"], 1024, "linearScanProducts"), ("hyena-swiglu", ["width=4", "inner=8", "l_max=6000", "blocks=H"], 6000, "fftconvInnerBackward"))
for name, settings, length, kernel in LONG if cuda else ():
    with tempfile.TemporaryDirectory() as folder:
        whole = trained(name, settings, pathlib.Path(folder), 0, 1, batch=1, length=length)[0]
        found, _, text = trained(name, settings, pathlib.Path(folder), 0, 1, "cuda", 1, length)
        assert kernel in text, f"{name}: no {kernel}: the test is too short for it"
        compare(f"{name} of {length} on CUDA", whole, found)
