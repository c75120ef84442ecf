"""Times single operations in PyTorch on request, for benchmarks/run.

Each line of stdin is a JSON object: op, form, backward, sizes, dtype, steps. The answer is a JSON object with `ms`, a
list, or `error`. The first answer tells what is running.
"""

import argparse
import contextlib
import json
import sys
import time

import torch
from torch.nn import functional as F

import scans


def inputs(*shapes):
    return [torch.randn(shape).requires_grad_() for shape in shapes]


def by_head(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def long_convolution(batch, length, channels):
    x, taps = inputs((batch, length, channels), (length, channels))

    def run():
        signal, filters = x.transpose(1, 2), taps.T
        spectrum = torch.fft.rfft(signal, n=2 * length) * torch.fft.rfft(filters, n=2 * length)
        return torch.fft.irfft(spectrum, n=2 * length)[..., :length].transpose(1, 2)

    return run, [x, taps]


def selective_scan(batch, length, form="loop"):
    leaves = inputs(*[(batch, length, 256)] * 2, *[(batch, length, 4)] * 2)
    a_log = torch.arange(1.0, 5.0).log().repeat(256, 1).requires_grad_()
    x, step, b, c = leaves
    if form == "loop":
        scan = scans.selective_scan_loop
    else:
        scan = lambda *z: scans.selective_scan_chunked(*z, block=max(16, 256 // batch))
    return lambda: scan(x, step.exp(), -a_log.exp(), b, c), [*leaves, a_log]


def gated_linear_attention(batch, length, form="loop"):
    leaves = inputs(*[(batch, length, 128)] * 4)
    scan = scans.linear_scan_loop if form == "loop" else scans.linear_scan_chunked

    def run():
        q, k, v, decay = (by_head(x, 8) for x in leaves)
        return scan(q, k, v, F.logsigmoid(decay) / 16).transpose(1, 2).flatten(2)

    return run, leaves


def attention(batch, length, heads):
    leaves = inputs(*[(batch, length, 128)] * 3)

    def run():
        y = F.scaled_dot_product_attention(*(by_head(x, heads) for x in leaves), is_causal=True)
        return y.transpose(1, 2).flatten(2)

    return run, leaves


def matmul(batch, length, inputs_, outputs):
    x, w = inputs((batch, length, inputs_), (outputs, inputs_))
    return lambda: F.linear(x, w), [x, w]


def cross_entropy(batch, length):
    (logits,) = inputs((batch, length, 4096))
    targets = torch.randint(4096, (batch * length,))
    return lambda: F.cross_entropy(logits.flatten(0, 1), targets), [logits]


def adamw():
    leaves = inputs((16, 1024), *[(1024, 1024)] * 16, (16, 1024), (16,))
    for x in leaves:
        x.grad = torch.randn_like(x)
    optimizer = torch.optim.AdamW(leaves, lr=1e-3, fused=True)

    def run():
        torch.nn.utils.clip_grad_norm_(leaves, 1.0)
        optimizer.step()

    return run, None


OPS = {f.__name__: f for f in (long_convolution, selective_scan, gated_linear_attention, attention, matmul, cross_entropy, adamw)}


def measure(request):
    torch.manual_seed(0)
    run, leaves = OPS[request["op"]](**request["sizes"])
    half = request["dtype"] == "bf16"
    if half and leaves:  # what a projection under autocast hands on
        for x in leaves:
            x.data = x.data.bfloat16()
    mixed = torch.autocast("cpu", torch.bfloat16) if half else contextlib.nullcontext()
    cotangent = None

    def step():
        nonlocal cotangent
        with contextlib.nullcontext() if request["backward"] or leaves is None else torch.no_grad(), mixed:
            y = run()
        if request["backward"]:
            for x in leaves:
                x.grad = None
            if cotangent is None:
                cotangent = torch.randn_like(y)
            y.backward(cotangent)

    step()
    step()
    times = []
    for _ in range(request["steps"]):
        start = time.perf_counter()
        step()
        times.append(1000 * (time.perf_counter() - start))
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    answer({"torch": torch.__version__})
    for line in sys.stdin:
        try:
            answer({"ms": measure(json.loads(line))})
        except RuntimeError as error:
            answer({"error": str(error).splitlines()[0]})


def answer(value):
    print(json.dumps(value), flush=True)


main()
