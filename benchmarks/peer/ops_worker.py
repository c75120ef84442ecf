"""Times single operations in PyTorch on request, for benchmarks/run and tools/gpu-check.

Each line of stdin is a JSON object: op, form, backward, sizes, dtype, steps. The answer is a JSON object with `ms`, a
list, or `error`. On a GPU, `milliseconds` stands in place of `steps`, the time to spend, and `graph_ms` are the times of the
same as a CUDA graph where launches may matter, or `graph_failure`. The first answer tells what is running.
"""

import argparse
import contextlib
import json
import statistics
import sys

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import device
import scans

GRAPH_BELOW_MS = 2.0  # longer than this, launches are no part of the time


def inputs(*shapes):
    return [torch.randn(shape).requires_grad_() for shape in shapes]


def by_head(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def compiled(function, form):
    return torch.compile(function, dynamic=False) if form == "compile" else function


def long_convolution(batch, length, channels):
    x, taps = inputs((batch, length, channels), (length, channels))

    def run():
        signal, filters = x.transpose(1, 2), taps.T
        spectrum = torch.fft.rfft(signal, n=2 * length) * torch.fft.rfft(filters, n=2 * length)
        return torch.fft.irfft(spectrum, n=2 * length)[..., :length].transpose(1, 2)

    return run, [x, taps]


def gated_convolution(batch, length, channels, form="eager"):
    """With the sequence innermost, as a user of torch.fft lays it out."""
    leaves = inputs(*[(batch, channels, length)] * 3, (channels, length))

    def convolve(x, before, after, taps):
        spectrum = torch.fft.rfft((before * x).float(), n=2 * length) * torch.fft.rfft(taps.float(), n=2 * length)
        return after * torch.fft.irfft(spectrum, n=2 * length)[..., :length].to(x.dtype)

    function = compiled(convolve, form)
    return lambda: function(*leaves), leaves


def associative_scan(x, step, a, b, c):
    from torch._higher_order_ops.associative_scan import associative_scan as scan

    def combine(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]

    decay = (step[:, :, None] * a.T).exp()
    added = (step * x)[:, :, None] * b[..., None]
    _, state = scan(combine, (decay, added), dim=1)
    return (state * c[..., None]).sum(dim=2)


def selective_scan(batch, length, form="loop", channels=256, states=4):
    leaves = inputs(*[(batch, length, channels)] * 2, *[(batch, length, states)] * 2)
    a_log = torch.arange(1.0, states + 1).log().repeat(channels, 1).requires_grad_()
    x, step, b, c = leaves
    block = length if x.is_cuda and length * channels <= 2**22 else max(16, 2048 if x.is_cuda else 256 // batch)
    scan = {"loop": scans.selective_scan_loop, "doubling": scans.selective_scan_doubling,
            "associative": torch.compile(associative_scan, dynamic=False) if form == "associative" else None,
            "chunked": lambda *z: scans.selective_scan_chunked(*z, block=block)}[form]
    return lambda: scan(x, step.exp(), -a_log.exp(), b, c), [*leaves, a_log]


def gated_linear_attention(batch, length, form="loop"):
    leaves = inputs(*[(batch, length, 128)] * 4)
    scan = scans.linear_scan_loop if form == "loop" else scans.linear_scan_chunked

    def run():
        q, k, v, decay = (by_head(x, 8) for x in leaves)
        return scan(q, k, v, F.logsigmoid(decay) / 16).transpose(1, 2).flatten(2)

    return run, leaves


def delta_rule(batch, length, heads, decays, form="chunked"):
    """Keys are short, so that the state does not grow."""
    leaves = inputs(*[(batch, length, 128)] * 4, (batch, length, decays))
    scan = scans.delta_rule_loop if form == "loop" else scans.delta_rule_chunked

    def run():
        q, k, v, erase, decay = (by_head(x, heads) for x in leaves)
        return scan(q, 0.1 * k, v, 0.1 * erase, F.logsigmoid(decay) / 16).transpose(1, 2).flatten(2)

    return run, leaves


def gru(batch, length):
    """A loop over positions, as a step that no library has is written."""
    x, u, bias = inputs((batch, length, 384), (384, 128), (384,))

    def run():
        h, states = torch.zeros(batch, 128), []
        for inputs_of in x.unbind(1):
            xr, xz, xn = inputs_of.chunk(3, -1)
            hr, hz, hn = F.linear(h, u, bias).chunk(3, -1)
            n = torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
            h = n + torch.sigmoid(xz + hz) * (h - n)
            states.append(h)
        return torch.stack(states, 1)

    return run, [x, u, bias]


def slstm(batch, length):
    """A loop over positions; at the first, where n is 0, the stabiliser m is the input gate."""
    x, recurrent = inputs((batch, length, 4, 4, 32), (4, 4, 32, 32))

    def run():
        y = c = n = m = torch.zeros(batch, 4, 32)
        states = []
        for position, gates in enumerate(x.unbind(1)):
            i, f, z, o = (gates + torch.einsum("bhm,ghkm->bghk", y, recurrent)).unbind(1)
            decayed = F.logsigmoid(f) + m
            m = torch.maximum(i, decayed) if position else i
            kept, written = torch.exp(decayed - m) if position else torch.zeros_like(i), torch.exp(i - m)
            c, n = kept * c + written * torch.tanh(z), kept * n + written
            y = torch.sigmoid(o) * c / n
            states.append(y)
        return torch.stack(states, 1)

    return run, [x, recurrent]


BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH,
            "cudnn": SDPBackend.CUDNN_ATTENTION}


def attention(batch, length, heads, width=128, form="default"):
    leaves = inputs(*[(batch, length, width)] * 3)

    def run():
        with sdpa_kernel(BACKENDS[form]) if form != "default" else contextlib.nullcontext():
            y = F.scaled_dot_product_attention(*(by_head(x, heads) for x in leaves), is_causal=True)
        return y.transpose(1, 2).flatten(2)

    return run, leaves


def matmul(batch, length, inputs_, outputs):
    x, w = inputs((batch, length, inputs_), (outputs, inputs_))
    return lambda: F.linear(x, w), [x, w]


def rmsnorm(batch, length, width, form="eager"):
    (x,) = inputs((batch, length, width))
    weight = torch.ones(width).requires_grad_()
    function = compiled(lambda x, weight: F.rms_norm(x, (width,), weight, 1e-5), form)
    return lambda: function(x, weight), [x, weight]


def cross_entropy(batch, length):
    (logits,) = inputs((batch, length, 4096))
    targets = torch.randint(4096, (batch * length,))
    return lambda: F.cross_entropy(logits.flatten(0, 1), targets), [logits]


def linear_cross_entropy(batch, length, width, classes, form="eager"):
    x, w = inputs((batch * length, width), (classes, width))
    targets = torch.randint(classes, (batch * length,))
    function = compiled(lambda x, w: F.cross_entropy(F.linear(x, w), targets), form)
    return lambda: function(x, w), [x, w]


def adamw(width=1024, matrices=16, form="fused"):
    leaves = inputs((16, width), *[(width, width)] * matrices, (16, width), (16,))
    for x in leaves:
        x.grad = torch.randn_like(x)
    how = {"fused": True} if form == "fused" else {"foreach": True}
    optimizer = torch.optim.AdamW(leaves, lr=1e-3, capturable=leaves[0].is_cuda, **how)

    def run():
        torch.nn.utils.clip_grad_norm_(leaves, 1.0)
        optimizer.step()

    return run, None


def copy(numbers):
    """What memory gives at most: bytes read and written are twice the tensor's."""
    x = torch.randn(numbers)
    y = torch.empty_like(x)
    return lambda: y.copy_(x), None


OPS = {f.__name__: f for f in (long_convolution, gated_convolution, selective_scan, gated_linear_attention, delta_rule, gru, slstm, attention, matmul, rmsnorm,
                               cross_entropy, linear_cross_entropy, adamw, copy)}


def step_of(request):
    torch.manual_seed(0)
    form = {"form": request["form"]} if request.get("form") else {}
    run, leaves = OPS[request["op"]](**request["sizes"], **form)
    half = request["dtype"] == "bf16"
    if half and leaves:  # what a projection under autocast hands on
        for x in leaves:
            x.data = x.data.bfloat16()
    kind = torch.get_default_device().type
    mixed = torch.autocast(kind, torch.bfloat16, cache_enabled=kind == "cpu") if half else contextlib.nullcontext()
    cotangent = None

    def step():
        nonlocal cotangent
        with contextlib.nullcontext() if request["backward"] or leaves is None else torch.no_grad(), mixed:
            y = run()
        if request["backward"] and leaves is not None:
            for x in leaves:
                x.grad = None
            if cotangent is None:
                cotangent = torch.randn_like(y)
            y.backward(cotangent)

    step()
    step()
    return step


def measure(request):
    """On the CPU."""
    return {"ms": device.times(step_of(request), request["steps"])}


class Measured:
    """A case on a GPU: what was built, compiled and captured is kept for its other turns."""

    def __init__(self, request):
        self.step, self.replay, self.failure = step_of(request), None, None
        first = statistics.median(device.times(self.step, 3))
        if first < GRAPH_BELOW_MS:
            try:
                self.replay = device.captured(self.step)
            except Exception as error:  # whatever stops a capture is the answer
                self.failure = first_line(error)

    def turn(self, milliseconds):
        return {"ms": self.enough(self.step, milliseconds), "graph_ms": self.enough(self.replay, milliseconds) if self.replay else None,
                **({"graph_failure": self.failure} if self.failure else {})}

    @staticmethod
    def enough(step, milliseconds):
        few = device.times(step, 3)
        return device.times(step, max(3, min(1000, int(milliseconds / max(statistics.median(few), 1e-3)))))


def first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    device.add_option(parser)
    options = parser.parse_args()
    device.use(options)
    gpu = torch.cuda.get_device_name() if options.device == "cuda" else None
    answer({"torch": torch.__version__, "device": gpu, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version() if gpu else None})
    kept, case = {}, None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if options.device == "cpu":
                answer(measure(request))
                continue
            milliseconds = request.pop("milliseconds")
            now = json.dumps({key: value for key, value in request.items() if key != "form"})
            if now != case:
                kept, case = {}, now
                torch.cuda.empty_cache()
            form = request.get("form")
            if form not in kept:
                kept[form] = Measured(request)
            reply = kept[form].turn(milliseconds)
            torch.cuda.empty_cache()  # the other side takes its turn with what is free
            answer(reply)
        except Exception as error:  # every failure is an answer; the process is started anew after one
            answer({"error": first_line(error)})


def answer(value):
    print(json.dumps(value), flush=True)


main()
