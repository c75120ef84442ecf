"""What a check of a GPU times: single operations, training steps of the MAD models, and of language models.

A case is a dictionary that goes to the bundle's manifest as it is. Cases come in the order in which they are measured, so that
what matters most is there when time runs out. `quick` cases are the same in small, for a machine without a GPU.
"""

from . import floors
from .processes import ROOT
from .training import model_files, settings_of

SUITES = ("selftest", "mad", "ops", "lm")
# The models that are compared in both precisions; the rest of models/mad in bf16.
MAD_FIRST = ("hyena-swiglu", "mamba", "gated-linear-attention-swiglu", "attention-swiglu", "hyena-moe")
MAD_SHAPE = (128, 128)
STEP_PEERS = ("eager", "compile", "graph", "compile-graph")
# Tokens of a batch of long convolutions: 64 sequences while they are short, fewer then, as to make the inputs of more takes longer than to measure.
CONVOLUTION_TOKENS = 2**16
LANGUAGE_MODELS = {
    "hyena-125m": ("models/hyena/hyena.hyb", {"size": "125m"}),
    "striped-hyena-125m": ("models/scaling/striped-hyena.hyb", {"size": "125M"}),
}


def op_case(op, dtype, gradient, sizes, peers, attention=None):
    """`attention`: who computes it, as hybridc's option says."""
    shape = {"batch": sizes.get("batch", 1), "length": sizes.get("length", 8)}
    settings = {key: value for key, value in sizes.items() if key not in shape}
    if op == "gated_convolution":
        settings["taps"] = sizes["length"]
    program = "update" if op == "adamw" else "vjp" if gradient else "forward"
    name = "-".join([op, *(f"{key}{value}" for key, value in sizes.items()), dtype, *([attention] if attention else [])])
    chosen = {"attention": attention} if attention else {}
    return {"suite": "ops", "name": f"{name}-{program}", "file": f"{name}.hyx", "source": f"benchmarks/ops/{op}.hyb", "op": op,
            "dtype": dtype, "program": program, "gradient": gradient, "sizes": sizes, "settings": settings, **shape, "peers": peers, **chosen,
            "floor": floors.OPS[op](dtype, gradient, **sizes)}


def both(op, dtype, sizes, peers, attention=None):
    return [op_case(op, dtype, gradient, sizes, peers, attention) for gradient in (False, True)]


def convolutions(lengths, channels):
    cases = []
    for length in lengths:
        sizes = {"batch": max(2, min(64, CONVOLUTION_TOKENS // length)), "length": length, "channels": channels}
        for dtype in ("bf16", "f32") if length in (1024, 4096, 16384) else ("bf16",):
            cases += both("gated_convolution", dtype, sizes, ["eager", "compile"])
    return cases


def scans(batch, lengths, widths, states):
    cases = []
    for width in widths:
        for length in lengths if width == widths[0] else lengths[:1]:
            # A loop over time is thousands of launches; the others keep every state, which is too much from some length on.
            forms = ["chunked"] + ["loop"] * (length <= 2048) + ["doubling", "associative"] * (length * width <= 2**23)
            sizes = {"batch": batch, "length": length, "channels": width, "states": states}
            cases += both("selective_scan", "f32", sizes, forms)
    return cases


def attentions(tokens, lengths, width):
    cases = []
    for length in lengths:
        for size in (64, 128):
            sizes = {"batch": tokens // length, "length": length, "heads": width // size, "width": width}
            cases += both("attention", "bf16", sizes, ["default", "flash", "cudnn"], "cudnn")
            cases += both("attention", "bf16", sizes, ["cudnn"], "own")
    return cases


def operations(quick):
    if quick:
        return [*both("gated_convolution", "f32", {"batch": 2, "length": 64, "channels": 8}, ["eager"]), *scans(2, [32], [16], 4), *both("attention", "bf16", {"batch": 2, "length": 32, "heads": 2, "width": 32}, ["default"]),
                *both("attention", "bf16", {"batch": 2, "length": 32, "heads": 2, "width": 128}, ["cudnn"], "cudnn"),
                *both("rmsnorm", "f32", {"batch": 2, "length": 8, "width": 64}, ["eager"]),
                *both("linear_cross_entropy", "f32", {"batch": 2, "length": 8, "width": 16, "classes": 50}, ["eager"]),
                op_case("adamw", "f32", True, {"width": 16, "matrices": 2}, ["fused"])]
    norms = ["eager", "compile"]
    mad = {"batch": 128, "length": 128, "heads": 16, "width": 128}
    cases = [*both("gated_linear_attention", "bf16", {"batch": 8, "length": 2048}, []), *both("delta_rule", "bf16", {"batch": 8, "length": 2048}, []),
             *[case for heads in (128, 64, 32) for case in both("attention", "bf16", {"batch": 8, "length": 2048, "heads": heads, "width": 1024}, ["default"])],
             *both("attention", "bf16", mad, ["default", "flash", "cudnn"]), *both("attention", "bf16", mad, ["cudnn"], "cudnn"), *both("attention", "f32", mad, ["default", "efficient", "math"]),
             *convolutions([1024, 2048, 4096, 8192, 16384, 32768, 65536], 768),
             *scans(8, [2048, 4096, 8192, 16384, 32768], [1536, 2048, 3072, 4096], 16),
             *both("selective_scan", "f32", {"batch": 128, "length": 128, "channels": 256, "states": 4}, ["chunked", "loop", "doubling"]),
             *both("gated_convolution", "f32", {"batch": 128, "length": 128, "channels": 512}, ["eager", "compile"])]
    cases += both("rmsnorm", "f32", {"batch": 8, "length": 2048, "width": 4096}, norms)
    cases += both("rmsnorm", "f32", {"batch": 128, "length": 128, "width": 128}, norms)
    cases += both("linear_cross_entropy", "bf16", {"batch": 8, "length": 2048, "width": 768, "classes": 50257}, norms)
    cases += [op_case("adamw", "f32", True, sizes, ["fused", "foreach"]) for sizes in
              ({"width": 256, "matrices": 8}, {"width": 1024, "matrices": 118}, {"width": 4096, "matrices": 77})]
    cases += attentions(16384, [2048, 4096, 8192, 16384], 2048)
    cases += both("gated_convolution", "f32", {"batch": 1, "length": 2**20, "channels": 768}, ["eager"])
    return cases


def mad(quick):
    batch, length = (2, 16) if quick else MAD_SHAPE
    files = model_files()
    names = list(MAD_FIRST) if quick else [*MAD_FIRST, *(name for name in files if name not in MAD_FIRST)]
    work = [(name, "bf16") for name in names] + [(name, "f32") for name in MAD_FIRST if not quick]
    cases = []
    for name, dtype in work:
        path = files[name]
        cases.append({"suite": "mad", "name": f"{name}-{dtype}", "file": f"{name}-{dtype}.hyx", "source": str(path.relative_to(ROOT)),
                      "model": name, "dtype": dtype, "program": "train", "batch": batch, "length": length,
                      "settings": settings_of(path, length), "peers": list(STEP_PEERS if name in MAD_FIRST else STEP_PEERS[:2])})
    return cases


def language_models():
    cases = []
    for length, batch in [(2048, 8), (8192, 2)]:
        for name, (source, settings) in LANGUAGE_MODELS.items():
            for attention in ("cudnn", "own") if "striped" in name else (None,):
                case = f"{name}-{length}-bf16" + (f"-{attention}" if attention else "")
                cases.append({"suite": "lm", "name": case, "file": f"{case}.hyx", "source": source, "model": name, "dtype": "bf16",
                              "program": "train", "batch": batch, "length": length, "settings": {**settings, "l_max": length},
                              "peers": list(STEP_PEERS[:3] if attention != "own" else STEP_PEERS[:1]), **({"attention": attention} if attention else {})})
    return cases


def every_case(quick):
    """Without language models if quick: their sizes are given by name."""
    return [*mad(quick), *operations(quick), *([] if quick else language_models())]
