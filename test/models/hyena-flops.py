#!/usr/bin/env python3
"""Recomputes the FLOP column of Hyena's table 4.4 (Poli et al. 2023): training on 15 billion tokens of length 2048.

Compiles models/hyena at the sizes of table A.4 with --cost=json and prints, for each row, the printed value, the paper's method
(appendix A.2, in the manner of Hoffmann et al. 2022) as the layers publish it, the same with the order + 1 projections that the
paper's code has, and what is really computed. Fails when a deviation is not the one that docs/book/cost.md explains.
"""

import json
import pathlib
import subprocess
import sys

TOKENS, LENGTH, UNIT, ORDER = 15e9, 2048, 1e19, 2

# model, size, printed FLOPs in 1e19, deviations in percent: paper's method, with order + 1 projections, true count;
# parameters in millions.
ROWS = [
    ("gpt", "125m", 1.88, -4.1, -4.1, -22.6, 125.2),
    ("gpt", "355m", 4.77, -4.4, -4.4, -14.1, 355.9),
    ("hyena", "153m", 1.87, -12.5, -6.0, -26.2, 152.6),
    ("hyena", "355m", 3.93, -15.4, -6.8, -17.8, 357.3),
]


def main():
    compiler, models = sys.argv[1], pathlib.Path(sys.argv[2])
    failed = False
    print(f"{'model':12} {'printed':>8} {'method':>8} {'':>8} {'order+1':>8} {'':>8} {'true':>8} {'':>8}   10^19 FLOPs")
    for model, size, printed, *expected, millions in ROWS:
        command = [compiler, models / "hyena" / f"{model}.hyb", "--set", f"size={size}", "--batch", "1", "--length",
                   str(LENGTH), "--cost=json", "--cost-method=hyena"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        if result.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
        cost = json.loads(result.stdout)
        published = cost["published"]
        missing = sum(term["flops_per_sequence"] for term in published["terms"]
                      if term["layer"].endswith(".hyena") and term["term"] == "projections") / ORDER
        counts = [3 * flops * TOKENS / UNIT for flops in (
            published["flops_per_token"],
            (published["flops_per_sequence"] + missing) / LENGTH,
            cost["forward_flops_per_token"],
        )]
        deviations = [100 * (count / printed - 1) for count in counts]
        print(f"{model + ' ' + size:12} {printed:8.2f} " +
              " ".join(f"{count:8.3f} {deviation:+7.1f}%" for count, deviation in zip(counts, deviations)))
        for what, got, want in zip(("method", "order + 1", "true count"), deviations, expected):
            if abs(got - want) > 0.1:
                failed = True
                print(f"  {what}: {got:+.2f} % where {want:+.1f} % was expected")
        if abs(cost["parameters"] / 1e6 - millions) > 0.06:
            failed = True
            print(f"  {cost['parameters'] / 1e6:.2f} million parameters where {millions} was expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
