"""What the tests of the package share: a small model, and what hybrid-run computes of it."""

import array
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "golden"))
if "HYBRID_BUILD" in os.environ:  # else the wheel that is installed
    sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import npy  # noqa: E402

import hybrid  # noqa: E402

MODEL = hybrid.models_folder() / "lm" / "byte-attention.hyb"
SIZES = {"width": 16, "heads": 2, "inner": 16, "blocks": "A"}
BATCH, LENGTH = 2, 8
TOKENS = [[1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1]]
TARGETS = [[2, 3, 4, 5, 6, 7, 8, 9], [7, 6, 5, 4, 3, 2, 1, 0]]

LINEAR = """model plain(width: int = 3) {
  input x: [B, L, width]
  let w = param([2, width], init = uniform(-1, 1))
  output y = op.linear(x, w)
}
"""


def run(program, *words):
    """What a program of the build prints."""
    done = subprocess.run([hybrid._files.program(program), *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def flat(numbers):
    """The numbers of nested lists, in order."""
    return [x for part in numbers for x in flat(part)] if isinstance(numbers, list) else [numbers]


def compile_model(**more):
    return hybrid.compile(MODEL, batch=BATCH, length=LENGTH, settings=SIZES, threads=1, **more)


def reference(folder, verb, *words):
    """What hybrid-run VERB writes for the model: {file's name without its ending: numbers}."""
    settings = [f"--set={name}={value}" for name, value in SIZES.items()]
    run("hybrid-run", verb, MODEL, f"--batch={BATCH}", f"--length={LENGTH}", *settings, "--init-seed=7", "--threads=1",
        "--input", "tokens=2x8xi32=" + ",".join(map(str, flat(TOKENS))), *words, "--out", folder)
    return {path.name[: -len(".npy")]: list(npy.read_npy(path).data) for path in pathlib.Path(folder).glob("*.npy")}


def write_npy(path, shape, numbers):
    npy.write_npy(path, npy.Tensor(shape, array.array("f", numbers)))
