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
# 16 heads, filters of a network of width 2.
multihead = 6 * L * D**2 + 18 * L * D + 2 * L * HEADS + (10 * L * math.log2(L) + 4 * L) * D**2 / HEADS + 2 * L * D**2
# Expansion, state and numbers from which a step is made. Two layers are a block, which needs no SwiGLU.
E, N, R = 2, 4, 8
mamba = 4 * L * D**2 * E + 6 * L * D * E + 2 * L * D * E * (R + 2 * N) + 2 * L * D * E * R + 2 * L * D * E * N + 2 * L * D**2 * E
# 8 experts of width 16, 2 of them active. The paper prints the last two without L.
experts = L * D * 8 + 4 * L * D * 16 * 8 + 2 * L * D * 16 * 2

compiler, models = sys.argv[1], pathlib.Path(sys.argv[2])
for name, blocks in (("attention-swiglu", 2 * (attention + swiglu)), ("hyena-swiglu", 2 * (hyena + swiglu)),
                     ("striped-hyena-swiglu", attention + hyena + 2 * swiglu),
                     ("multihead-hyena-swiglu", 2 * (multihead + swiglu)), ("mamba", 4 * mamba),
                     ("striped-mamba-swiglu", 2 * mamba + attention + swiglu), ("hyena-moe", 2 * (hyena + experts))):
    text = subprocess.run([compiler, models / "mad" / f"{name}.hyb", "--length", str(L), "--cost=json", "--cost-method=mad"],
                          capture_output=True, text=True, check=True).stdout
    got = json.loads(text)["published"]["flops_per_sequence"]
    want = embedding_and_head + blocks
    assert math.isclose(got, want, rel_tol=1e-12), (name, got, want)
    print(f"{name}: {got:.6g}")
