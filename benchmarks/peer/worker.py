"""Trains one peer model on request, for benchmarks/run.

Reads lines from stdin: `steps N` takes N training steps and answers with the milliseconds of each as
JSON; an empty line or the end of input stops. The first answer tells what was built.
"""

import argparse
import json
import resource
import sys
import time

import torch

from mad_models import Model, loss_of


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True, help="arguments of mad_models.Model as JSON")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)

    config = json.loads(options.config)
    model = Model(**config)
    try:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
        fused = True
    except RuntimeError:
        optimizer, fused = torch.optim.AdamW(model.parameters(), lr=1e-3), False
    compute = torch.compile(loss_of, dynamic=False) if options.compile else loss_of
    shape = (options.batch, config["length"])
    tokens = torch.randint(config["vocab"], shape)
    targets = torch.randint(config["vocab"], shape)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = compute(model, tokens, targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    start = time.perf_counter()
    step()
    step()
    answer({"parameters": sum(p.numel() for p in model.parameters()), "torch": torch.__version__,
            "threads": torch.get_num_threads(), "fused_adamw": fused,
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
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        answer({"ms": times, "peak_bytes": peak})


def answer(value):
    print(json.dumps(value), flush=True)


main()
