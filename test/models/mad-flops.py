#!/usr/bin/env python3
"""FLOPs as Poli et al. 2024 count them (appendix D.4), of its scaling and MAD models, against the formulas written out term by term.

Every architecture of the appendix is compiled at rows of tables D.2 to D.4. The notation is table D.5's.

usage: mad-flops.py HYBRIDC MODELS_DIR
"""

import json
import math
import pathlib
import subprocess
import sys

V = 50257
# Rows of table D.2: width, inner width of GLU, heads, layers; of D.3 and D.4: width of an expert.
D2 = {"8M": (128, 336, 2, 4), "102M": (640, 1712, 10, 14), "350M": (1024, 2736, 16, 24), "1300M": (2048, 5456, 16, 24),
      "7000M": (3712, 9904, 29, 41)}
D3 = {"102M": 1728, "350M": 2752, "1300M": 5440}
D4 = {"102M": 2368, "350M": 3776, "1300M": 7616}


def embedding(L, D, vocab):
    return 4 * L * D * vocab


def mha(L, D, H):
    return 6 * L * D**2 + 4 * L**2 * D + 2 * H * L**2 + 2 * L * D**2


def glu(L, D, F):
    return 6 * L * D * F


def hyena(L, D, S, wide=None):
    W = wide or D      # the synthetics' Hyena runs its convolutions on four times the width, from projections that are used four times
    return 6 * L * D**2 + 18 * L * W + S * L * W + 10 * L * math.log2(L) * W + 4 * L * W + 2 * L * D * W


def multihead_hyena(L, D, H, S):
    return 6 * L * D**2 + 18 * L * D + S * L * H + (10 * L * math.log2(L) + 4 * L) * D**2 / H + 2 * L * D**2


def mamba(L, D, E=2, S=16, R=None):
    R = R or -(-D // 16)
    return 4 * L * D**2 * E + 6 * L * D * E + 2 * L * D * E * (R + 2 * S) + 2 * L * D * E * R + 2 * L * D * E * S + 2 * L * D**2 * E


def moe(L, D, W, A=8, G=2):
    return L * D * A + 4 * L * D * W * A + 2 * L * D * W * G      # the paper prints the last two without L


def hyena_experts(L, D, M, S, A=8, G=2):
    return L * D * A + 6 * L * D**2 + 18 * L * D + S * L * M * G + 10 * L * math.log2(L) * M * G + 4 * L * M * G + 2 * L * M * D


def published(compiler, path, length, strict=True, **settings):
    command = [compiler, path, "--batch", "1", "--length", str(length), "--cost=json", "--cost-method=mad"] + ["--strict"] * strict
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return json.loads(result.stdout)["published"]


def main():
    compiler, models = sys.argv[1], pathlib.Path(sys.argv[2])

    def check(file, got, want):
        assert math.isclose(got, want, rel_tol=1e-12), (file, got, want)
        print(f"{file}: {got:.6g}")

    # The models of the MAD suite, and all its kinds of layers: vocabulary 16, width and length 128.
    L, D, F, H = 128, 128, 512, 16
    wide, S = 4 * D, 4
    uniform = {"attention": mha(L, D, H), "hyena": hyena(L, D, S, wide), "multihead-hyena": multihead_hyena(L, D, 16, 2),
               "hyena-experts": hyena_experts(L, D, 16, 16)}
    channel = {"swiglu": glu(L, D, F), "moe": moe(L, D, 16)}
    mamba_layer = mamba(L, D, 2, 4, 8)
    suite = {"mamba": 4 * mamba_layer}
    for c, mixing in channel.items():
        for name, mixer in uniform.items():
            suite[f"{name}-{c}"] = 2 * (mixer + mixing)
            if name != "attention":
                suite[f"striped-{name}-{c}"] = mixer + mha(L, D, H) + 2 * mixing
        suite[f"striped-mamba-{c}"] = 2 * mamba_layer + mha(L, D, H) + mixing
    for name, blocks in suite.items():
        check(f"mad/{name}", published(compiler, models / "mad" / f"{name}.hyb", L)["flops_per_sequence"], embedding(L, D, 16) + blocks)

    # The scaling models: filters of order 64; heads of 8 channels in multi-head Hyena.
    L = 2048
    for size, (D, F, H, N) in D2.items():
        attention = sum((i + 1) % 4 == 0 for i in range(N))     # one layer in four
        for name, blocks in (("transformer-plus-plus", N * (mha(L, D, H) + glu(L, D, F))),
                             ("hyena", N * (hyena(L, D, 64) + glu(L, D, F))),
                             ("multihead-hyena", N * (multihead_hyena(L, D, D // 8, 64) + glu(L, D, F))),
                             ("striped-hyena", N * glu(L, D, F) + (N - attention) * hyena(L, D, 64) + attention * mha(L, D, H)),
                             ("mamba", 2 * N * mamba(L, D)),
                             ("striped-mamba", (N - attention) * 2 * mamba(L, D) + attention * (mha(L, D, H) + glu(L, D, F)))):
            check(f"scaling/{name} {size}", published(compiler, models / "scaling" / f"{name}.hyb", L, size=size)["flops_per_sequence"],
                  embedding(L, D, V) + blocks)
    for size in D3:
        D, _, H, N = D2[size]
        for name, ratio, W, mixer in (("striped-hyena-moe", 3, D3[size], hyena(L, D, 64)),
                                      ("striped-hyena-experts-moe", 11, D4[size], hyena_experts(L, D, D // 8, 64))):
            attention = sum((i + 1) % (ratio + 1) == 0 for i in range(N))
            counted = published(compiler, models / "scaling" / f"{name}.hyb", L, size=size)
            check(f"scaling/{name} {size}", counted["flops_per_sequence"],
                  embedding(L, D, V) + N * moe(L, D, W) + (N - attention) * mixer + attention * mha(L, D, H))

    # D.4.8's terms of a layer at 102M, where D = 640, D_moh = 80, G = 2.
    layer = {term["term"]: term["coefficient"] for term in published(compiler, models / "scaling" / "striped-hyena-experts-moe.hyb", L, size="102M")["terms"]
             if term["layer"] == "blocks.0.hyena_experts"}
    want = {"router": 5120, "projections": 6 * 640**2, "short convolutions": 18 * 640, "featurization": 64 * 160, "long convolutions": 1600, "gates": 640,
            "out": 102400}
    assert layer == want, layer

    # Layers that the appendix does not have are named.
    for folder, name, without in (("scaling", "retnet", "retention"), ("scaling", "rwkv", "rwkv4_time_mix"), ("scaling", "h3-plus-plus", "h3"),
                                  ("mad", "gated-linear-attention-swiglu", "gated_linear_attention"), ("mad", "rwkv6", "rwkv6_time_mix")):
        named = published(compiler, models / folder / f"{name}.hyb", L, strict=False)["layers_without_terms"]
        assert any(layer.endswith(without) for layer in named), (name, named)
        assert not any(layer.endswith((".mlp", ".swiglu", "untied", "tied")) for layer in named), (name, named)
        print(f"{folder}/{name}: no terms of {len(named)} layers")


main()
