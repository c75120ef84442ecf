#!/usr/bin/env python3
"""A tiny Qwen3-Next of transformers, as it comes and with its delta-rule layers compiled: losses of the same training and seconds of a step.

usage: HYBRID_BUILD=build PYTHONPATH=python benchmarks/python/qwen3_next.py [--steps N] [--width N] [--batch N] [--length N] [--threads N] [--profile]
(an interpreter that has torch and transformers; without HYBRID_BUILD, the wheel)

Both models start from the same weights and see the same bytes of this repository's book. They are trained in turns, a step of one and a step of the other,
so that what else the machine does slows both; a step is forward, loss, backward and AdamW, and the ratios that count are the medians of all pairs but
the first three: of the clock, and of the process's own time on all its threads, which other work disturbs less. --profile lists where a step of each
goes.
"""

import argparse
import copy
import pathlib
import statistics
import time

import torch
from transformers import Qwen3NextConfig, Qwen3NextForCausalLM
from transformers.models.qwen3_next.modeling_qwen3_next import Qwen3NextGatedDeltaNet

import hybrid.torch

ROOT = pathlib.Path(__file__).resolve().parents[2]


class DeltaNet(torch.nn.Module):
    """The delta-rule layer of Qwen3-Next by std.delta's gated_deltanet, with the weights of `layer`. For training: it keeps no cache."""

    def __init__(self, layer, batch, length, threads):
        super().__init__()
        self.layer_type = layer.layer_type
        heads, value_heads, key_size, value_size = layer.num_k_heads, layer.num_v_heads, layer.head_k_dim, layer.head_v_dim
        self.mixer = hybrid.torch.layer("std.delta", "gated_deltanet", width=layer.hidden_size, heads=heads, value_heads=value_heads, key_size=key_size,
                                        value_size=value_size, taps=layer.conv_kernel_size, eps=layer.layer_norm_epsilon, batch=batch, length=length,
                                        threads=threads)
        # Qwen's rows are those of one key head behind those of another; ours all queries, all keys, all values, all gates, all betas, all decays.
        shared = value_heads // heads
        q, k, v, z = layer.in_proj_qkvz.weight.unflatten(0, (heads, -1)).split([key_size, key_size, shared * value_size, shared * value_size], 1)
        b, a = layer.in_proj_ba.weight.unflatten(0, (heads, -1)).split([shared, shared], 1)
        weights = {"in.weight": torch.cat([part.flatten(0, 1) for part in (q, k, v, z, b, a)]), "short.weight": layer.conv1d.weight.squeeze(1),
                   "decay.rate": layer.A_log, "decay.bias": layer.dt_bias, "norm": layer.norm.weight, "out.weight": layer.out_proj.weight}
        self.mixer.load_state_dict({"gated_deltanet." + name: weight.detach() for name, weight in weights.items()})

    def forward(self, hidden_states, cache_params=None, attention_mask=None, **_):
        if cache_params is not None or attention_mask is not None:
            raise NotImplementedError("the compiled layer trains whole sequences: pass use_cache=False and no padding")
        return self.mixer(hidden_states)


def swap(model, batch, length, threads=0):
    """A copy of the model with all of its delta-rule layers compiled."""
    swapped = copy.deepcopy(model)
    for layer in swapped.model.layers:
        if isinstance(getattr(layer, "linear_attn", None), Qwen3NextGatedDeltaNet):
            layer.linear_attn = DeltaNet(layer.linear_attn, batch, length, threads)
    return swapped


def tiny(width):
    """Three delta-rule layers and one of attention in the proportions of Qwen3-Next-80B-A3B: keys of the model's width, values and queries of attention of
    twice that, eight value heads to four of keys. Four experts, of which two are active beside the shared one."""
    return Qwen3NextConfig(vocab_size=256, hidden_size=width, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=width // 2,
                           linear_num_key_heads=4, linear_num_value_heads=8, linear_key_head_dim=width // 4, linear_value_head_dim=width // 4,
                           intermediate_size=2 * width, moe_intermediate_size=width // 2, shared_expert_intermediate_size=width // 2, num_experts=4,
                           num_experts_per_tok=2, use_cache=False)


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("steps", 50), ("width", 64), ("batch", 4), ("length", 512), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    model = Qwen3NextForCausalLM(tiny(options.width))
    models = {"as it comes": model, "compiled layer": swap(model, options.batch, options.length, options.threads)}
    optimizers = {name: torch.optim.AdamW(each.parameters(), lr=1e-3) for name, each in models.items()}
    text = torch.tensor(list(b"".join(path.read_bytes() for path in sorted((ROOT / "docs" / "book").glob("*.md")))))
    draw = torch.Generator().manual_seed(1)
    losses, clock, own = ({name: [] for name in models} for _ in range(3))

    def train(name, tokens):
        loss = models[name](input_ids=tokens, labels=tokens, use_cache=False).loss
        optimizers[name].zero_grad()
        loss.backward()
        optimizers[name].step()
        return loss.item()

    def batch():
        starts = torch.randint(0, len(text) - options.length, (options.batch,), generator=draw).tolist()
        return torch.stack([text[start : start + options.length] for start in starts])

    for _ in range(options.steps):
        tokens = batch()
        for name in models:
            begin, begin_own = time.perf_counter(), time.process_time()
            losses[name].append(train(name, tokens))
            clock[name].append(time.perf_counter() - begin)
            own[name].append(time.process_time() - begin_own)
    report(options, losses, clock, own)
    if options.profile:
        for name in models:
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
                train(name, batch())
            print(f"{name}:\n{profile.key_averages().table(sort_by='self_cpu_time_total', row_limit=12, max_name_column_width=50)}")


def report(options, losses, clock, own):
    plain, compiled = losses
    apart = max(abs(one - other) for one, other in zip(losses[plain], losses[compiled]))
    print(f"{options.steps} steps of {options.batch} x {options.length}, {options.width} wide, torch {torch.__version__} with {torch.get_num_threads()} threads: "
          f"losses at most {apart:.1e} apart")
    for name in losses:
        print(f"{name}: loss {losses[name][0]:.4f} to {losses[name][-1]:.4f}, median step {1e3 * statistics.median(clock[name][3:]):.1f} ms, "
              f"{1e3 * statistics.median(own[name][3:]):.1f} ms of its own time")
    for what, seconds in (("by the clock", clock), ("by its own time", own)):
        ratios = [slow / fast for slow, fast in zip(seconds[plain][3:], seconds[compiled][3:])]
        low, middle, high = statistics.quantiles(ratios)
        print(f"{middle:.2f} times faster {what} (quartiles {low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
