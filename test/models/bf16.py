"""Usage: bf16.py BINARIES MODELS. A model with bf16 products agrees with the f32 one as far as 8 bits of mantissa let it, forward and backward."""

import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from model import Model  # noqa: E402

binaries, models = sys.argv[1], pathlib.Path(sys.argv[2])


def distance(a, b):
    """Euclidean distance relative to the length of a."""
    difference = math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b)))
    return difference / (math.sqrt(sum(x * x for x in a)) or 1)


for name in ("attention-swiglu", "hyena-swiglu", "mamba", "gated-linear-attention-swiglu", "rwkv"):
    found = {}
    for precision in ("f32", "bf16"):
        with tempfile.TemporaryDirectory() as folder:
            model = Model(binaries, models / f"{name}.hyb", folder, 2, 32, ["vocab=16"], precision=precision)
            cotangent = model.drawn(model.outputs["logits"])
            found[precision] = model.run({"logits": cotangent})
    # 2^-9 a rounding; a few layers of them, and gradients that pass them twice.
    for role, limit in (("logits", 0.02), ("gradients", 0.05)):
        pairs = [(found["f32"][key].data, found["bf16"][key].data) for key in found["f32"]
                 if (key == "logits") == (role == "logits")]
        worst = distance([x for a, _ in pairs for x in a], [x for _, b in pairs for x in b])
        # Exactly equal numbers would mean that nothing was rounded.
        print(f"{name} {role}: {'agrees' if 1e-5 < worst < limit else f'differs by {worst:.2e}'}")
