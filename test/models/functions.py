#!/usr/bin/env python3
"""Values of every function of elements against Python's math, as numbers of the language and as tensors of a program, at points where
a careless formula overflows or cancels; and that none is missing here.

usage: functions.py BIN FUNCTIONS.md OUT [hybrid-run flags]
"""

import math
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
import npy  # noqa: E402

binaries, page, out, *flags = sys.argv[1:]
ANY = [-40.0, -2.5, -0.3, -1e-9, 1e-9, 0.4, 3.0, 40.0]
POSITIVE = [1e-9, 0.3, 1.0, 2.5, 1e6]
BOUNDED = [-7.0, -2.5, -0.3, 1e-9, 0.4, 3.0, 7.0]


def softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def sigmoid(x):
    return math.exp(-softplus(-x))


UNARY = {
    "neg": (lambda x: -x, ANY), "exp": (math.exp, ANY), "log": (math.log, POSITIVE), "sin": (math.sin, BOUNDED), "cos": (math.cos, BOUNDED),
    "tanh": (math.tanh, ANY), "sigmoid": (sigmoid, ANY), "silu": (lambda x: x * sigmoid(x), ANY),
    "gelu": (lambda x: x / 2 * (1 + math.erf(x / math.sqrt(2))), BOUNDED),
    "gelu_tanh": (lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), BOUNDED),
    "relu": (lambda x: max(x, 0.0), ANY), "softplus": (softplus, ANY), "sqrt": (math.sqrt, POSITIVE),
    "rsqrt": (lambda x: 1 / math.sqrt(x), POSITIVE), "abs": (abs, ANY), "square": (lambda x: x * x, ANY),
    "sign": (lambda x: math.copysign(1, x), ANY), "log_sigmoid": (lambda x: -softplus(-x), ANY), "erf": (math.erf, BOUNDED),
    "reciprocal": (lambda x: 1 / x, ANY), "elu": (lambda x: x if x > 0 else math.expm1(x), ANY), "expm1": (math.expm1, ANY),
    "log1p": (math.log1p, POSITIVE), "stop_gradient": (lambda x: x, ANY),
}
PAIRS = [(-2.5, 3.0), (0.4, 0.4), (3.0, -0.3), (-1.5, -1e-3)]
BINARY = {
    "a + b": lambda a, b: a + b, "a - b": lambda a, b: a - b, "a * b": lambda a, b: a * b, "a / b": lambda a, b: a / b,
    "maximum(a, b)": max, "minimum(a, b)": min, "equal(a, b)": lambda a, b: float(a == b), "less(a, b)": lambda a, b: float(a < b),
    "atan2(y, x)": math.atan2, "masked(x, mask)": lambda a, b: a * b if b else 0.0,
}

rows = re.findall(r"^\| `(.*?)` \| ", pathlib.Path(page).read_text(encoding="utf-8"), re.MULTILINE)
known = {f"{name}(x)" for name in UNARY} | set(BINARY)
assert set(rows) == known, f"{sorted(set(rows) ^ known)} are not both in {page} and here"


def near(value, expected):
    # Near -1 and 1 a difference of numbers of 53 bits keeps about so many.
    return abs(value - expected) <= 1e-12 * abs(expected) + 1e-15


model = ["model functions() {"]
inputs, checks = [], []


def feed(name, values):
    model.append(f"  input {name}: [{len(values)}]")
    inputs.extend(["--input", f"{name}={len(values)}xf64=" + ",".join(map(repr, values))])


for name, (function, points) in UNARY.items():
    feed(f"x_{name}", points)
    for x in points:
        expected = function(x)
        model.append(f"  require(abs({name}({x!r}) - {expected!r}) <= {1e-12 * abs(expected) + 1e-15!r}, \"{name} of {x!r}\")")
    model.append(f"  output y_{name} = {name}(x_{name})")
    checks.append((f"y_{name}", [function(x) for x in points]))
feed("a", [a for a, b in PAIRS])
feed("b", [b for a, b in PAIRS])
for index, (call, function) in enumerate(BINARY.items()):
    model.append(f"  output binary_{index} = {re.sub(r'[(].*[)]', '(a, b)', call)}")
    checks.append((f"binary_{index}", [function(a, b) for a, b in PAIRS]))
model.append("}")
folder = pathlib.Path(out)
folder.mkdir(parents=True, exist_ok=True)
(folder / "functions.hyb").write_text("\n".join(model) + "\n")
subprocess.run([f"{binaries}/hybrid-run", "forward", str(folder / "functions.hyb"), "--precision", "f64", "--init-seed", "1",
                "--out", str(folder), *inputs, *flags], check=True, stdout=subprocess.DEVNULL)
for name, expected in checks:
    found = npy.read_npy(folder / f"output.{name}.npy").data
    wrong = [pair for pair in zip(found, expected) if not near(*pair)]
    assert len(found) == len(expected) and not wrong, f"{name}: found and expected {wrong}"
print(f"{len(checks)} functions")
