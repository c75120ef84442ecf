#!/usr/bin/env python3
"""What hybrid.torch adds to the program that it runs: milliseconds of one thread for a forward and a backward pass of a layer at 32 x 128.

usage: HYBRID_BUILD=build PYTHONPATH=python benchmarks/python/overhead.py [WIDTH] [TURNS]   (an interpreter that has PyTorch)

`bridge` is module(x) and backward: parameters go into the session, outputs and gradients into new tensors, and PyTorch keeps its books. `program` is "vjp"
of the same session alone, which computes outputs and gradients, as a training step of hybrid-run does. They are measured in turns, by the thread's own
time; the overhead is the median of the turns' ratios, since the machine may have other work.
"""

import statistics
import sys
import time

import torch

import hybrid.torch
from hybrid.torch import _memory

LAYERS = [("std.delta", "gated_deltanet", {"heads": 4}), ("std.mixers", "hyena", {}), ("std.mamba", "mamba", {})]


def main():
    width, turns = (int(word) for word in (*sys.argv[1:], *("128", "31")[len(sys.argv) - 1 :]))
    torch.set_num_threads(1)
    for module, name, arguments in LAYERS:
        layer = hybrid.torch.layer(module, name, width=width, batch=32, length=128, threads=1, **arguments)
        x = torch.randn(32, 128, width, requires_grad=True)
        cotangent = torch.randn_like(layer(x))
        session = next(iter(layer._shapes.values())).session
        inputs = {"x": _memory(x.detach()), "cotangent.y": _memory(cotangent)}

        def bridge():
            x.grad = None
            for parameter in layer.parameters():
                parameter.grad = None
            layer(x).backward(cotangent)

        def program():
            session.run("vjp", inputs, {})

        spent = {"bridge": [], "program": []}
        for turn in range(turns + 2):
            for run in (bridge, program) if turn % 2 else (program, bridge):
                start = time.thread_time()
                run()
                spent[run.__name__].append(1e3 * (time.thread_time() - start))
        bridges, programs = spent["bridge"][2:], spent["program"][2:]
        more = [100 * (one / other - 1) for one, other in zip(bridges, programs)]
        low, middle, high = statistics.quantiles(more)
        print(f"{name}: bridge {statistics.median(bridges):.1f} ms, program {statistics.median(programs):.1f} ms, overhead {middle:.1f} % "
              f"(quartiles {low:.1f} to {high:.1f})", flush=True)


if __name__ == "__main__":
    main()
