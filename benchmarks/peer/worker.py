"""Trains one peer model on request, for benchmarks/run.

Reads lines from stdin: `steps N` takes N training steps and answers with the milliseconds of each as JSON; an empty line
or the end of input stops. The first answer tells what was built.
"""

import argparse
import contextlib
import json
import resource
import sys
import time

import torch

from model import Model, loss_of


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--vocab", type=int, required=True)
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)

    base_bytes = peak_bytes()
    model = Model(options.model, options.vocab, options.length)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    compute = torch.compile(loss_of, dynamic=False) if options.compile else loss_of
    mixed = torch.autocast("cpu", torch.bfloat16) if options.dtype == "bf16" else contextlib.nullcontext()
    shape = (options.batch, options.length)
    tokens = torch.randint(options.vocab, shape)
    targets = torch.randint(options.vocab, shape)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with mixed:
            loss = compute(model, tokens, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    start = time.perf_counter()
    losses = [step(), step()]
    answer({"parameters": sum(p.numel() for p in model.parameters()), "torch": torch.__version__,
            "threads": torch.get_num_threads(), "base_bytes": base_bytes, "losses": losses,
            "warm_up_seconds": time.perf_counter() - start})
    for line in sys.stdin:
        words = line.split()
        if len(words) != 2 or words[0] != "steps":
            break
        times = []
        for _ in range(int(words[1])):
            start = time.perf_counter()
            step()
            times.append(1000 * (time.perf_counter() - start))
        answer({"ms": times, "peak_bytes": peak_bytes()})


def answer(value):
    print(json.dumps(value), flush=True)


main()
