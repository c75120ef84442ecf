"""Usage: tiles.py BINARIES MODELS. Training in small tiles of rows, the last one smaller, is training all rows at once: same losses and parameters."""

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


def trained(name, settings, folder, tiles, threads):
    """Everything that `replay` writes after a few updates, and how many loops over tiles there are."""
    gradients, scheduled, executable = folder / "grad.mlir", folder / f"{tiles}.mlir", folder / f"{tiles}.hyx"
    flags = [flag for setting in settings for flag in ("--set", setting)]
    run("hybridc", models / f"{name}.hyb", "--emit=grad", "--precision=f64", f"--batch={BATCH}", f"--length={LENGTH}", *flags, "-o", gradients)
    tiling = "hybrid-tile-rows{min-rows=8 max-tile=32 max-sequential-tile=64}," if tiles else ""
    run("hybrid-opt", gradients, f"--pass-pipeline=builtin.module(func.func(hybrid-fuse-elementwise,{tiling}cse),hybrid-schedule-cpu)", "-o", scheduled)
    run("hybridc", scheduled, "-o", executable)
    generator = random.Random(1)
    inputs = []
    for kind in ("tokens", "targets"):
        # Targets that are not scored as well.
        ids = npy.array.array("i", (-100 if kind == "targets" and i % 7 == 0 else generator.randrange(16) for i in range(BATCH * LENGTH)))
        npy.write_npy(folder / f"{kind}.npy", npy.Tensor((BATCH, LENGTH), ids))
        inputs += ["--input", f"{kind}={folder / kind}.npy"]
    out = folder / f"out-{tiles}-{threads}"
    run("hybrid-run", "replay", executable, "--init-seed", "3", *inputs, "--steps", STEPS, "--lr", "1e-2", "--threads", threads, "--out", out)
    return {path.name: npy.read_npy(path).data for path in out.glob("*.npy")}, scheduled.read_text().count("hybrid.tile_loop")


for name, settings in (("attention-swiglu", SMALL), ("attention-mlp", SMALL), ("hyena-swiglu", ["width=16", "inner=24"]), ("rwkv", ["width=16"]),
                       ("gated-linear-attention-swiglu", ["width=16", "inner=24"])):
    with tempfile.TemporaryDirectory() as folder:
        whole, none = trained(name, settings, pathlib.Path(folder), False, 1)
        for threads in (1, 2):
            tiled, loops = trained(name, settings, pathlib.Path(folder), True, threads)
            assert none == 0 and loops > 0 and whole.keys() == tiled.keys()
            # Sums over rows are taken in another order; AdamW divides by small numbers.
            worst = max(abs(a - b) / (1e-3 + abs(a)) for key in whole for a, b in zip(whole[key], tiled[key]))
            print(f"{name}, {threads} threads: {'agrees' if worst < 1e-8 else f'differs by {worst:.1e}'}")
