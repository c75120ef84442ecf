"""Holds the peer's fast forms to the loops over time that define them: values and gradients.

Run with an interpreter that has torch: `python benchmarks/peer/check.py`.
"""

import sys

import torch

import channel
import scans


def compare(name, form, reference, inputs):
    results = []
    for function in (form, reference):
        leaves = [x.clone().requires_grad_() for x in inputs]
        y = function(*leaves)
        generator = torch.Generator().manual_seed(1)
        y.backward(torch.randn(y.shape, generator=generator, dtype=y.dtype))
        results.append([y.detach()] + [x.grad for x in leaves])
    worst = max(((a - b).abs().max() / (b.abs().max() + 1e-12)).item() for a, b in zip(*results))
    print(f"{'ok  ' if worst < 1e-4 else 'FAIL'} {name:40} {worst:.1e}")
    return worst < 1e-4


def main():
    torch.manual_seed(0)
    batch, heads, length, size = 2, 3, 128, 8
    q, k, v = (torch.randn(batch, heads, length, size) for _ in range(3))
    decay = torch.nn.functional.logsigmoid(torch.randn(batch, heads, length, size))
    bonus, erase = torch.randn(heads, size), torch.randn(batch, heads, length, size) / 3
    x, b, c = torch.randn(batch, length, 6), torch.randn(batch, length, 4), torch.randn(batch, length, 4)
    step = torch.nn.functional.softplus(torch.randn(batch, length, 6))
    a = -torch.rand(6, 4) * 4
    rate, first = torch.rand(6) * 3, torch.randn(6)
    keys, values = torch.randn(batch, length, 6), torch.randn(batch, length, 6)
    loop, chunked = scans.linear_scan_loop, scans.linear_scan_chunked
    with_bonus = lambda scan: lambda q, k, v, decay, bonus: scan(q, k, v, decay, bonus)
    mixture = channel.MixtureOfExperts(16, inner=4)

    def experts(form):
        def run(x):
            mixture.form = form
            return mixture(x)

        return run

    passed = [
        compare("linear scan in chunks", chunked, loop, (q, k, v)),
        compare("linear scan in chunks, decay", chunked, loop, (q, k, v, decay)),
        compare("linear scan in chunks, decay and bonus", with_bonus(chunked), with_bonus(loop), (q, k, v, decay, bonus)),
        compare("linear scan in chunks, decay a head", scans.linear_scan_by_head,
                lambda q, k, v, g: loop(q, k, v, g[..., None].expand_as(k)), (q, k, v, decay[..., 0])),
        *(compare(f"delta rule in chunks, decay {of}{', b' * bool(write)}", scans.delta_rule_chunked, scans.delta_rule_loop,
                  (q, k / 3, v, erase, g, *write))
          for of, g in (("a head", decay[..., :1]), ("a key", decay)) for write in ((), (q / 3,))),
        compare("selective scan in chunks", scans.selective_scan_chunked, scans.selective_scan_loop, (x, step, a, b, c)),
        compare("selective scan by doubling", scans.selective_scan_doubling, scans.selective_scan_loop, (x, step, a, b, c)),
        compare("RWKV-4's averages in chunks", scans.averages_chunked, scans.averages_loop, (keys, values, rate, first)),
        compare("experts, all at once", experts("dense"), experts("loop"), (torch.randn(batch, length, 16),)),
    ]
    sys.exit(not all(passed))


main()
