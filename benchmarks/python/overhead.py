#!/usr/bin/env python3
"""What hybrid.torch adds to the programs that it runs: milliseconds of one thread for a forward and a backward pass of a layer at 32 x 128.

usage: HYBRID_BUILD=build PYTHONPATH=python benchmarks/python/overhead.py [WIDTH]   (an interpreter that has PyTorch)

`bridge` is module(x) and backward; `programs` is "forward" and "vjp" of the same session without outputs being copied to tensors; `vjp` is that program
alone, which computes the outputs too and is all that a training step of hybrid-run takes. They are measured in turns, by the thread's own time, and the
least of all turns counts: the machine may have other work.
"""

import sys
import time

import torch

import hybrid.torch
from hybrid.torch import _memory

TURNS = 15
LAYERS = [("std.delta", "gated_deltanet", {"heads": 4}), ("std.mixers", "hyena", {}), ("std.mamba", "mamba", {})]


def main():
    width = int(sys.argv[1]) if len(sys.argv) > 1 else 128
    torch.set_num_threads(1)
    for module, name, arguments in LAYERS:
        layer = hybrid.torch.layer(module, name, width=width, batch=32, length=128, threads=1, **arguments)
        x = torch.randn(32, 128, width, requires_grad=True)
        cotangent = torch.randn_like(layer(x))
        session = next(iter(layer._shapes.values())).session
        inputs = {"x": _memory(x.detach())}
        weighed = {**inputs, "cotangent.y": _memory(cotangent)}

        def bridge():
            x.grad = None
            layer(x).backward(cotangent)

        def programs():
            session.run("forward", inputs, {})
            session.run("vjp", weighed, {})

        def vjp():
            session.run("vjp", weighed, {})

        least = {}
        for _ in range(TURNS):
            for run in (bridge, programs, vjp):
                start = time.thread_time()
                run()
                least[run.__name__] = min(least.get(run.__name__, float("inf")), 1e3 * (time.thread_time() - start))
        more = {other: 100 * (least["bridge"] / least[other] - 1) for other in ("programs", "vjp")}
        print(f"{name}: " + ", ".join(f"{run} {spent:.1f} ms" for run, spent in least.items()) + f"; bridge over programs {more['programs']:.1f} %, "
              f"over vjp alone {more['vjp']:.1f} %", flush=True)


if __name__ == "__main__":
    main()
