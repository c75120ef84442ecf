#!/usr/bin/env python3
"""What hybrid.torch adds to the program that it runs: milliseconds of one thread for a forward and a backward pass of a layer at 32 x 128.

usage: HYBRID_BUILD=build PYTHONPATH=python benchmarks/python/overhead.py [WIDTH] [TURNS] [SESSIONS]   (an interpreter that has PyTorch; default 128, 30 and 5)

`bridge` is module(x) and backward: parameters go into the session, outputs and gradients into new tensors, and PyTorch keeps its books. `program` is "vjp"
of the same session alone, which computes outputs and gradients, as a training step of hybrid-run does. They are measured by the thread's own time, in turns
of program, bridge, bridge, program. The overhead is the median of the turns' ratios, since the machine may have other work, over several sessions, since
where a session's memory lies moves its times by a few percent.
"""

import os
import statistics
import sys
import time

import torch

import hybrid.torch
from hybrid.torch import _memory

LAYERS = [("std.delta", "gated_deltanet", {"heads": 4}), ("std.mixers", "hyena", {}), ("std.mamba", "mamba", {})]


def percent(one, other):
    return 100 * (one / other - 1)


def turns_of(module, name, arguments, width, turns):
    """Milliseconds of one session: [(program, bridge, bridge, program)]."""
    layer = hybrid.torch.layer(module, name, width=width, batch=32, length=128, threads=1, **arguments)
    x = torch.randn(32, 128, width, requires_grad=True)
    cotangent = torch.randn_like(layer(x))
    session = next(iter(layer._shapes.values())).session
    inputs = {"x": _memory(x.detach()), "cotangent.y": _memory(cotangent)}
    parameters = list(layer.parameters())

    def bridge():
        x.grad = None
        for parameter in parameters:
            parameter.grad = None
        layer(x).backward(cotangent)

    def program():
        session.run("vjp", inputs, {})

    def milliseconds(run):
        start = time.thread_time()
        run()
        return 1e3 * (time.thread_time() - start)

    return [[milliseconds(run) for run in (program, bridge, bridge, program)] for _ in range(turns + 2)][2:]


def main():
    width, turns, sessions = (int(word) for word in (*sys.argv[1:], *("128", "30", "5")[len(sys.argv) - 1 :]))
    torch.set_num_threads(1)
    for layer in LAYERS:
        found = [turns_of(*layer, width, turns) for _ in range(sessions)]
        each = [[percent(turn[1] + turn[2], turn[0] + turn[3]) for turn in session] for session in found]
        every = [ratio for session in each for ratio in session]
        low, middle, high = statistics.quantiles(every)
        bridge, program = (statistics.median(turn[i] for session in found for turn in session for i in places) for places in ((1, 2), (0, 3)))
        print(f"{layer[1]}: bridge {bridge:.1f} ms, program {program:.1f} ms, overhead {middle:.1f} % (quartiles {low:.1f} to {high:.1f}; medians of sessions "
              f"{', '.join(f'{statistics.median(session):.1f}' for session in each)}; load {os.getloadavg()[0]:.1f})", flush=True)


if __name__ == "__main__":
    main()
