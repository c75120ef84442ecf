"""Trains one peer model on request, for benchmarks/run and tools/gpu-check.

Reads lines from stdin: `steps N` takes N training steps and answers with the milliseconds of each as JSON; an empty line
or the end of input stops. The first answer tells what was built. Modes:

  eager          as PyTorch runs it
  compile        the loss and its gradient compiled; on a GPU in graphs of their own (mode reduce-overhead)
  graph          on a GPU: an eager step from its gradient to the optimizer as one graph
  compile-graph  on a GPU: compiled, and the whole step as one graph
"""

import argparse
import contextlib
import json
import resource
import sys
import time

import torch

import device
from model import build, loss_of


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def training_step(options):
    """The model and a function that takes a step and returns its loss."""
    on_gpu, as_graph = options.device == "cuda", options.mode.endswith("graph")
    model = build(options.model, options.vocab, options.length)
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-3, fused=True, capturable=as_graph)
    compute = loss_of
    if options.mode.startswith("compile"):
        how = {"mode": "reduce-overhead"} if on_gpu and not as_graph else {}
        compute = torch.compile(loss_of, dynamic=False, **how)
    # A graph must not take weights in bf16 from autocast's cache, which a step before it filled.
    mixed = (torch.autocast(options.device, torch.bfloat16, cache_enabled=not as_graph) if options.dtype == "bf16"
             else contextlib.nullcontext())
    shape = (options.batch, options.length)
    tokens = torch.randint(options.vocab, shape)
    targets = torch.randint(options.vocab, shape)

    def step():
        if options.mode == "compile" and on_gpu:
            torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad(set_to_none=True)
        with mixed:
            loss = compute(model, tokens, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach() if on_gpu else loss.item()  # on a GPU nothing waits for the loss

    return model, step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--vocab", type=int, required=True)
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--mode", choices=("eager", "compile", "graph", "compile-graph"), default="eager")
    device.add_option(parser)
    options = parser.parse_args()
    device.use(options)
    torch.manual_seed(0)

    base_bytes = peak_bytes()
    model, step = training_step(options)
    start = time.perf_counter()
    losses = [float(step()), float(step())]
    if options.mode.endswith("graph"):
        step = device.captured(step)
        step()
    answer({"parameters": sum(p.numel() for p in model.parameters() if p.requires_grad), "torch": torch.__version__,
            "threads": torch.get_num_threads(), "base_bytes": base_bytes, "losses": losses,
            "warm_up_seconds": time.perf_counter() - start})
    for line in sys.stdin:
        words = line.split()
        if len(words) != 2 or words[0] != "steps":
            break
        answer({"ms": device.times(step, int(words[1])), "peak_bytes": device.peak_bytes(peak_bytes())})


def answer(value):
    print(json.dumps(value), flush=True)


main()
