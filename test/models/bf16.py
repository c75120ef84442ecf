"""Usage: bf16.py BINARIES MODELS [TARGET [--long]]. A model in bf16 agrees with the f32 one as far as 8 bits of mantissa let it, forward and backward. Activations
are rounded in memory too: by the mixers of Inputs/rounded-mixers.hyb as well, by each of the algorithms they have. Prints a line a comparison, and fails where one differs."""

import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from model import Model  # noqa: E402

binaries, models = sys.argv[1], pathlib.Path(sys.argv[2])
target = sys.argv[3] if len(sys.argv) > 3 else None
MIXERS = pathlib.Path(__file__).resolve().parent / "Inputs" / "rounded-mixers.hyb"
CASES = [(models / f"{name}.hyb", None, 2, 32, ["vocab=16"])
         for name in ("attention-swiglu", "hyena-swiglu", "mamba", "gated-linear-attention-swiglu", "rwkv")]
# Convolutions as products with Toeplitz matrices and by transforms in shared memory and in two passes; scans whole and divided over time; chunks not full;
# chains of products in blocks of 32, 64 and with --long 128 rows, and the last not full.
CASES += [(MIXERS, name, batch, length, []) for name, batch, length in
          (("hyena_alone", 3, 50), ("hyena_alone", 2, 300), ("convolution_alone", 1, 4100), ("hyena_packed", 2, 70),
           ("mamba_alone", 2, 50), ("mamba_alone", 1, 700), ("mamba_packed", 2, 70), ("gated_linear_alone", 2, 50), ("gated_linear_alone", 1, 700),
           ("gated_linear_packed", 2, 70), ("mamba2_alone", 2, 50), ("retention_alone", 2, 50), ("linear_attention_alone", 2, 50), ("delta_packed", 2, 70), ("kimi_alone", 2, 50),
           ("channel_mixers", 3, 50), ("channel_mixers", 50, 130))]
if "--long" in sys.argv:
    CASES += [(MIXERS, "channel_mixers", 100, 130, [])]


def distance(a, b):
    """Euclidean distance relative to the length of a."""
    difference = math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b)))
    return difference / (math.sqrt(sum(x * x for x in a)) or 1)


failed = False
for source, name, batch, length, settings in CASES:
    found = {}
    for precision in ("f32", "bf16"):
        with tempfile.TemporaryDirectory() as folder:
            # The other numbers are the CPU's in any case: other tests compare devices, and the tests' driver takes its time.
            where = target if precision == "bf16" else None
            model = Model(binaries, source, folder, batch, length, settings, name=name, precision=precision, target=where)
            output = next(iter(model.outputs))
            cotangent = model.drawn(model.outputs[output])
            found[precision] = model.run({output: cotangent})
    title = f"{source.stem} {output}" if name is None else f"{name} of {length} positions {output}"
    # 2^-9 a rounding; a few layers of them, and gradients that pass them twice.
    for role, limit in ((title, 0.02), (title.rsplit(" ", 1)[0] + " gradients", 0.05)):
        pairs = [(found["f32"][key].data, found["bf16"][key].data) for key in found["f32"]
                 if (key == output) == (not role.endswith("gradients"))]
        worst = distance([x for a, _ in pairs for x in a], [x for _, b in pairs for x in b])
        # Exactly equal numbers would mean that nothing was rounded.
        agrees = 1e-5 < worst < limit
        failed |= not agrees
        print(f"{role}: {'agrees' if agrees else f'differs by {worst:.2e}'}", flush=True)
sys.exit(failed)
