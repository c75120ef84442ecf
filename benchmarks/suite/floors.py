"""The least time of an op on a GPU: what its definition must move and compute, over what the device can do at most.

Every input is read and every output written once; work that the value and the gradients share is counted once. The largest
of the terms is the floor. Rates are those of an H200 (NVIDIA's data sheet for arithmetic; memory as a copy reaches it), so that
on another device a floor is not its own: the report names the device.
"""

import math

DEVICE = "NVIDIA H200"
# Per second. `special`: exponentials, reciprocals and the like; `issued`: instructions of a lane.
RATES = {"memory": 4.3e12, "products_bf16": 790e12, "products_f32": 67e12, "arithmetic": 67e12, "special": 4.18e12, "issued": 33.4e12}
BYTES = {"f32": 4, "bf16": 2}


def floor(**amounts):
    """{"ms", "bound", and the amounts}: `memory` in bytes, the others in operations."""
    times = {name: 1000 * amount / RATES[name] for name, amount in amounts.items()}
    bound = max(times, key=times.get)
    return {"ms": times[bound], "bound": bound, **amounts}


def gated_convolution(dtype, gradient, batch, length, channels):
    """Real transforms of twice the length, two sequences as one complex one; up to 1024 positions a product with a Toeplitz
    matrix is less on units for matrices. Back: the same for the gradients of the input and of the filter, and the value."""
    n, s = batch * length * channels, BYTES[dtype]
    memory = (8 if gradient else 4) * n * s + (2 if gradient else 1) * length * channels * 4
    times = 2.5 if gradient else 1
    points = 2 * length
    fourier = times * 10 * points * math.log2(points) * batch * channels / 2
    toeplitz = times * (length**2 + 128 * length) * batch * channels
    if dtype == "bf16" and toeplitz / RATES["products_bf16"] < fourier / RATES["arithmetic"]:
        return floor(memory=memory, products_bf16=toeplitz)
    return floor(memory=memory, arithmetic=fourier)


def selective_scan(dtype, gradient, batch, length, channels, states):
    n, s = batch * length * channels, BYTES[dtype]
    memory = (6 * n + 4 * batch * length * states) * s if gradient else (3 * n + 2 * batch * length * states) * s
    if gradient:
        return floor(memory=memory, special=(2 * states + 1) * n, issued=(17 * states + 30) * n)
    return floor(memory=memory, special=(states + 1) * n, issued=(5.5 * states + 12) * n)


def gated_linear_attention(dtype, gradient, batch, length):
    """8 heads of 16, a decay a key channel: benchmarks/ops/gated_linear_attention.hyb."""
    tokens = batch * length
    return floor(memory=(10 if gradient else 5) * tokens * 128 * BYTES[dtype], arithmetic=(3 if gradient else 1) * 5 * tokens * 8 * 16 * 16)


def delta_rule(dtype, gradient, batch, length):
    """8 heads of 16, a decay a head: benchmarks/ops/delta_rule.hyb."""
    tokens = batch * length
    return floor(memory=(2 if gradient else 1) * tokens * (5 * 128 + 8) * BYTES[dtype], arithmetic=(3 if gradient else 1) * 9 * tokens * 8 * 16 * 16)


def attention(dtype, gradient, batch, length, heads, width):
    """Two products over half of the square and an exponential; back five more products with the scores made again."""
    s = BYTES[dtype]
    memory = (8 if gradient else 4) * batch * length * width * s
    products = 2 * batch * length**2 * width * (3.5 if gradient else 1)
    return floor(memory=memory, special=batch * heads * length**2 / 2 * (2 if gradient else 1), **{f"products_{dtype}": products})


def rmsnorm(dtype, gradient, batch, length, width):
    return floor(memory=(4 if gradient else 2) * batch * length * width * BYTES[dtype])


def linear_cross_entropy(dtype, gradient, batch, length, width, classes):
    """The scores are never written."""
    tokens, s = batch * length, BYTES[dtype]
    memory = (2 if gradient else 1) * (tokens * width + width * classes) * s
    return floor(memory=memory, special=tokens * classes, **{f"products_{dtype}": (6 if gradient else 2) * tokens * width * classes})


def adamw(dtype, gradient, width, matrices):
    """Clipped by the norm of the gradients, so that they are read twice."""
    return floor(memory=32 * (width * width * matrices + 2 * 16 * width + 16))


def training_step(dtype, cost):
    """Of a model, from `hybridc --cost=json`."""
    step = cost["training_step"]
    return floor(memory=step["bytes_fused"], **{f"products_{dtype}": step["flops"]})


OPS = {f.__name__: f for f in (gated_convolution, selective_scan, gated_linear_attention, delta_rule, attention, rmsnorm, linear_cross_entropy, adamw)}
