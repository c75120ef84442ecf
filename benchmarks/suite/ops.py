"""Single operations: a model of one op (benchmarks/ops/*.hyb) against the same in PyTorch.

Both sides compute the value, or the value and the gradients of all inputs and parameters. FLOPs are those that the
definition needs, whatever a kernel does; bytes those of inputs, outputs and their gradients, once each. So a rate is
what was useful, and comparable between the sides.
"""

import json
import math
import sys

from .processes import BENCHMARKS, Compiled, Failure, Peer, Unsupported, last_line, median, median_ratio, take_turns

TOKENS = 16384
F32 = 4


def long_convolution(batch, length, channels, backward):
    """Real transforms of 2 * length numbers, 2.5 n log2 n each: of x, the filter, y; then of dy, dx and the filter's."""
    transform = 2.5 * 2 * length * math.log2(2 * length)
    products = 6 * (length + 1) * batch * channels
    flops = (2 * batch + 1) * channels * transform + products
    numbers = (2 * batch + 1) * length * channels
    if backward:
        flops, numbers = 2 * flops + products, numbers + (2 * batch + 1) * length * channels
    return flops, numbers


def selective_scan(batch, length, backward):
    """7 for each state and token: the decay's exponent and exponential, the input, the update, the output; twice that back."""
    flops, numbers = 7 * batch * length * 256 * 4, batch * length * (3 * 256 + 2 * 4)
    return (3 * flops, 2 * numbers) if backward else (flops, numbers)


def gated_linear_attention(batch, length, backward):
    """5 for each of 8 x 16 x 16 states and token: the decay, the outer product, the output; twice that back."""
    flops, numbers = 5 * batch * length * 8 * 16 * 16, batch * length * 5 * 128
    return (3 * flops, 2 * numbers) if backward else (flops, numbers)


def delta_rule(batch, length, heads, decays, backward):
    """9 for each state and token: the decay, what is read to be erased, what is written, the output, two each; twice that back."""
    flops, numbers = 9 * batch * length * 128 * 128 // heads, batch * length * (5 * 128 + decays)
    return (3 * flops, 2 * numbers) if backward else (flops, numbers)


def gru(batch, length, backward):
    """A product of 128 by 384 a token, two more back."""
    flops, numbers = 2 * batch * length * 128 * 384, batch * length * 4 * 128
    return (3 * flops, 2 * numbers) if backward else (flops, numbers)


def slstm(batch, length, backward):
    """Four products of 32 by 32 in each of four heads a token, two more back."""
    flops, numbers = 2 * batch * length * 4 * 4 * 32 * 32, batch * length * 5 * 128
    return (3 * flops, 2 * numbers) if backward else (flops, numbers)


def attention(batch, length, heads, backward):
    """Two products over half a square, five back (with the scores again)."""
    flops, numbers = 2 * batch * length**2 * 128, 4 * batch * length * 128
    return (3.5 * flops, 2 * numbers) if backward else (flops, numbers)


def matmul(batch, length, inputs, outputs, backward):
    flops = 2 * batch * length * inputs * outputs
    numbers = batch * length * (inputs + outputs) + inputs * outputs
    return (3 * flops, 2 * numbers) if backward else (flops, numbers)


def cross_entropy(batch, length, backward):
    flops, numbers = 4 * batch * length * 4096, batch * length * 4096
    return (1.5 * flops, 2 * numbers) if backward else (flops, numbers)


def adamw(backward):
    """Clipped: the gradients are read twice, the parameters and both moments read and written."""
    count = 16 * 1024 * 1024 + 2 * 16 * 1024 + 16
    return 16 * count, 8 * count


COSTS = {f.__name__: f for f in (long_convolution, selective_scan, gated_linear_attention, delta_rule, gru, slstm, attention, matmul,
                               cross_entropy, adamw)}


def work(options):
    """(op, dtype, backward, sizes) of every row."""
    rows = []
    for power in range(7, 17):
        length = 2**power
        sizes = {"batch": max(1, TOKENS // length), "length": length, "channels": 128}
        rows += [("long_convolution", "f32", backward, sizes) for backward in (False, True)]
    for op in ("selective_scan", "gated_linear_attention"):
        rows += [(op, "f32", True, {"batch": batch, "length": length}) for batch, length in ((32, 128), (16, 1024), (1, 16384))]
    for heads, decays in ((8, 8), (8, 128), (2, 2)):
        rows += [("delta_rule", "f32", True, {"batch": batch, "length": length, "heads": heads, "decays": decays})
                 for batch, length in ((32, 128), (16, 1024), (1, 16384), (1, 65536))]
    for op in ("gru", "slstm"):
        rows += [(op, "f32", True, {"batch": 32, "length": length}) for length in (128, 1024)]
    for dtype in options.dtype:
        for heads in (16, 2):
            for batch, length in ((32, 128), (16, 1024), (4, 4096)):
                sizes = {"batch": batch, "length": length, "heads": heads}
                rows += [("attention", dtype, backward, sizes) for backward in (False, True)]
        for inputs, outputs in ((128, 512), (512, 128), (1024, 1024)):
            sizes = {"batch": 32, "length": 128, "inputs": inputs, "outputs": outputs}
            rows += [("matmul", dtype, backward, sizes) for backward in (False, True)]
    rows.append(("cross_entropy", "f32", True, {"batch": 32, "length": 128}))
    rows.append(("adamw", "f32", False, {}))
    return [row for row in rows if not options.op or row[0] in options.op]


class PeerOps:
    """The process of the peer's ops, started anew after a failure."""

    def __init__(self, options):
        self.options, self.process = options, None

    def ask(self, request):
        try:
            if not self.process:
                self.process = Peer(self.options, "ops_worker.py", limit=self.options.limit)
            reply = self.process.ask(json.dumps(request))
        except Failure:
            self.close()
            raise
        problem = reply.get("error") or reply.get("graph_failure", "")
        if any(word in problem for word in ("CUDA", "memory", "captur")):
            self.close()  # what it did to the device stays with the process
        if "error" in reply:
            raise Failure(reply["error"])
        return reply

    def close(self):
        if self.process:
            self.process.close()
        self.process = None


def measure(options, peers, op, dtype, backward, sizes):
    shape = sizes or {"batch": 1, "length": 8}
    settings = {key: value for key, value in sizes.items() if key not in ("batch", "length")}
    if op == "long_convolution":
        settings["taps"] = sizes["length"]
    model = Compiled(options, BENCHMARKS / "ops" / f"{op}.hyb", dtype, shape["batch"], shape["length"], settings)

    def ours():
        if op == "adamw":  # after a real gradient: of a training step, what the optimizer takes
            profile = model.bench("train", 1, warmup=1, profile=True)["profile"]
            return sum(entry["ms"] for entry in profile if entry["op"] == "adamw")
        return model.milliseconds("vjp" if backward else "forward", options.steps)

    def peer(form=None):
        names = {key + "_" * (key == "inputs"): value for key, value in sizes.items()}
        request = {"op": op, "dtype": dtype, "backward": backward, "sizes": {**names, **({"form": form} if form else {})}, "steps": options.steps}
        return lambda: median(peers.ask(request)["ms"])

    forms = {"selective_scan": ("loop", "chunked"), "gated_linear_attention": ("loop", "chunked"), "delta_rule": ("chunked",)}.get(op)
    sides = {"ours": ours, **({form: peer(form) for form in forms} if forms else {"eager": peer()})}
    try:
        times, failures = take_turns(sides, options.rounds, lambda side: side())
    finally:
        model.close()
    if "ours" in failures:
        raise Failure(failures["ours"])
    flops, numbers = COSTS[op](backward=backward, **sizes)
    milliseconds = median(times["ours"])
    row = {"op": op, "dtype": dtype, "backward": backward, **sizes, "threads": options.threads, "ms": milliseconds,
           "gflops": flops / milliseconds / 1e6, "gb_per_second": numbers * (2 if dtype == "bf16" else F32) / milliseconds / 1e6}
    for side in list(sides)[1:]:
        row |= {f"peer_{side}_ms": median(times[side]), f"ratio_{side}": median_ratio(times, side)}
        if times[side]:
            row[f"peer_{side}_gflops"] = flops / median(times[side]) / 1e6
    return row | {f"{side}_failure": message for side, message in failures.items()}


def run(options):
    peers, refused = PeerOps(options), set()
    rows = work(options)
    try:
        for index, (op, dtype, backward, sizes) in enumerate(rows):
            title = f"[{index + 1}/{len(rows)}] {op} {dtype} {'vjp' if backward else 'forward'} {' '.join(f'{k}={v}' for k, v in sizes.items())}"
            if dtype in refused:
                continue
            try:
                row = measure(options, peers, op, dtype, backward, sizes)
            except Unsupported as failure:
                refused.add(dtype)
                print(f"{title}: left out, as is every {dtype} row: {failure}", file=sys.stderr, flush=True)
                continue
            except (Failure, OSError, KeyError, ValueError) as failure:
                options.failures.append(f"{title}: {failure}")
                print(f"benchmarks/run: {title}: {failure}", file=sys.stderr, flush=True)
                continue
            ratios = ", ".join(f"{row[key]:.2f} x {key[6:]}" if row[key] else f"no {key[6:]}: {last_line(row.get(key[6:] + '_failure', ''))}"
                               for key in row if key.startswith("ratio_"))
            print(f"{title}: {row['ms']:.2f} ms, {row['gflops']:.1f} GFLOP/s, {row['gb_per_second']:.1f} GB/s, {ratios}", flush=True)
            yield row
    finally:
        peers.close()
