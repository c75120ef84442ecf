#!/usr/bin/env python3
"""FLOPs of the MAD models as their paper counts them (Poli et al. 2024, appendix C.4), against the formulas written out."""

import json
import math
import pathlib
import subprocess
import sys

L, D, V, F, HEADS = 128, 128, 16, 512, 16
# The synthetics' Hyena runs its convolutions on four times the width, from projections that are used four times.
S, WIDE = 4, 4 * D

embedding_and_head = 4 * L * D * V
swiglu = 6 * L * D * F
attention = 6 * L * D**2 + 4 * L**2 * D + 2 * HEADS * L**2 + 2 * L * D**2
hyena = (6 * L * D**2 + 18 * L * WIDE + S * L * WIDE + 10 * L * math.log2(L) * WIDE + 4 * L * WIDE +
         2 * L * D * WIDE)

compiler, models = sys.argv[1], pathlib.Path(sys.argv[2])
for name, mixers in (("attention-swiglu", 2 * attention), ("hyena-swiglu", 2 * hyena),
                     ("striped-hyena-swiglu", attention + hyena)):
    text = subprocess.run([compiler, models / "mad" / f"{name}.hyb", "--length", str(L), "--cost=json", "--cost-method=mad"],
                          capture_output=True, text=True, check=True).stdout
    got = json.loads(text)["published"]["flops_per_sequence"]
    want = embedding_and_head + mixers + 2 * swiglu
    assert math.isclose(got, want, rel_tol=1e-12), (name, got, want)
    print(f"{name}: {got:.6g}")
