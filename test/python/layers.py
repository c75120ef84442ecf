"""torch.autograd.gradcheck in f64 over every layer of models/std: inputs in full, parameters along random directions.

usage: layers.py [NAME ...]: those layers only, as "delta.gated_deltanet". Run by tools/wheel --test, which has a PyTorch.

A layer is called with what its declaration asks for: tensors of small sizes become inputs, numbers come from NUMBERS or CASES. OUTSIDE says which
layers are not checked, and why.
"""

import re
import sys

import support  # noqa: F401
import torch

import hybrid
import hybrid.torch

B, L = 2, 5
SIZES = {"D": 8, "E": 8, "C": 8, "V": 8, "H": 2, "N": 2, "K": 3, "M": 4, "P": 8, "R": 2, "T": 2, "S": 2, "A": 2, "F": 2, "G": 2, "W": 4}
NUMBERS = {"heads": "2", "experts": "3", "active": "2", "vocab": "5", "width": "8", "out": "6", "inner": "8", "l_max": "8", "L": "5", "B": "2", "channels": "4",
           "states": "4", "size": "4", "classes": "3", "rank": "2", "window": "2", "layers": "2", "depth": "0", "D": "8", "M": "4", "taps": "3", "bound": "0.5",
           "eps": "1e-5", "times": "2", "rows": "4", "dims": "4", "base": "100", "kv_heads": "2", "groups": "1", "blocks": "2", "head_size": "4", "patch": "2"}
# What differs: "inputs" (dimensions by name), "outputs" (names of results, and which), "page" (a layer `wrapped` that calls it), or an argument as the
# language writes it.
LIST_OF_ONE = {"outputs": {"y": 0}}
CASES = {
    "attention.alibi": {
        "page": "layer wrapped(x: [B, L, D], slopes: [H]) -> [B, L, D] { return op.attention(x, x, x, heads = 2, score = alibi with (slopes = slopes)) }",
        "inputs": {"x": "[B, L, 8]", "slopes": "[2]"}},
    "attention.forgetting": {
        "page": "layer wrapped(x: [B, L, D], gates: [B, L, H]) -> [B, L, D] { return op.attention(x, x, x, heads = 2, score = forgetting with (gates = gates)) }",
        "inputs": {"x": "[B, L, 8]", "gates": "[B, L, 2]"}},
    "attention.latent_attention": {"nope": 4, "rope": 2, "value": 4, "rank": 4},
    "attention.repeat_heads": {"wanted": 4},
    "delta.gated_deltanet_core": {"inputs": {"x": "[B, L, 8]", "w_in": "[36, 8]", "w_short": "[24, 3]", "rate": "[2]", "bias": "[2]", "norm": "[4]", "w_out": "[8, 8]"}},
    "experts.router": {"outputs": {"weights": 0, "logits": 2}},
    "experts.sigmoid_router": {"outputs": {"weights": 0}},
    "experts.apply_experts": {"expert": "swiglu_expert"},
    "experts.moe_with_shared": {"shared": 4},
    "filters.sine_filter": LIST_OF_ONE, "filters.explicit_filter": LIST_OF_ONE, "filters.fno_filter": LIST_OF_ONE,
    "filters.transfer_function_filter": LIST_OF_ONE, "filters.ckconv_filter": LIST_OF_ONE,
    "heads.class_logits": {"length": 5},
    "hyena_family.multihead_hyena": {"head": 4},
    "hyena_family.h3": {"states": 4},
    "linear_attention.linear_attention": {"heads": 2},
    "linear_attention.linear_attention_core": {"inputs": {"q": "[B, L, 4]", "k": "[B, L, 4]", "v": "[B, L, 8]"}},
    "mamba.projection": {"settings": {"outputs": 4, "inputs": 3, "bias": True}},
    "mamba.mamba_core": {"inputs": {"x": "[B, L, 8]", "w_in": "[8, 8]", "w_short": "[4, 3]", "w_x": "[6, 4]", "w_dt": "[4, 2]", "b_dt": "[4]", "a_log": "[4, 2]",
                                    "skip": "[4]", "w_out": "[8, 4]"}},
    "mamba2.mamba2": {"head_size": 4, "state": 4},
    "mamba3.mamba3": {"head_size": 4, "state": 4},
    "mixers.attention": {"heads": 2},
    "recurrences.hgrn2": {"expand": 4},
    "rwkv.token_mix": {"power": 0.5},
    "rwkv5.eagle_projection": {"gain": 0.5, "zero_start": False},
    "rwkv5.eagle_bonus": {"along": 0.5},
    "rwkv5.eagle_decay": {"along": 0.5},
    "rwkv5.rwkv5_time_mix": {"head_size": 4},
    "rwkv5.rwkv6_time_mix": {"head_size": 4},
    "rwkv7.goose_mix": {"power": 0.5},
    "rwkv7.rwkv7_time_mix": {"head_size": 4},
    "shared_blocks.shared_transformer": {
        "page": "layer wrapped(x: [B, L, D], first: [B, L, D]) -> [B, L, D] {\n  let shared = shared_transformer(8, heads = 2, inner = 8)\n  return shared(x, first)\n}",
        "inputs": {"x": "[B, L, 8]", "first": "[B, L, 8]"}},
    "state_space.s4d_filter": {**LIST_OF_ONE, "states": 4},
    "state_space.dss_filter": {**LIST_OF_ONE, "states": 4},
    "state_space.modal_poles": {**LIST_OF_ONE, "states": 4},
    "state_space.s4_filter": {**LIST_OF_ONE, "states": 4, "l_max": 8},
    "state_space.polar_poles": {"total": 4},
    "state_space.cartesian_poles": {"total": 4},
    "state_space.complex_product": {"inputs": dict.fromkeys(("ar", "ai", "br", "bi"), "[B, L, 4]")},
    "state_space.complex_quotient": {"inputs": dict.fromkeys(("ar", "ai", "br", "bi"), "[B, L, 4]")},
    "state_space.zoh": {"inputs": {"dt": "[4, 1]", **dict.fromkeys(("ar", "ai", "cr", "ci"), "[4, 2]")}},
    "state_space.bilinear": {"inputs": {"dt": "[4, 1]", **dict.fromkeys(("ar", "ai", "cr", "ci"), "[4, 2]")}},
    "state_space.cauchy_sums": {"conjugate": True},
    "steps.gru_step": {"inputs": {"h": "[8]", "x": "[24]", "u": "[24, 8]", "bias": "[24]"}},
    "vision.axis_filter": {"n": 4, "two_sided": True},
    "vision.branch": {"drop": 0, "drop_depth": 0},
    "vision.hyena_iso_scores": {"depth": 1, "filter_width": 4, "features": 3},
    "vision.hyena_vit_scores": {"depth": 1, "filter_width": 4, "features": 3},
    "vision.vit_scores": {"depth": 1, "heads": 2},
}
OUTSIDE = {
    **dict.fromkeys(("attention.alibi_slopes", "heads.sine_positions", "linear_attention.count_positions", "linear_attention.retention_decay",
                     "recurrences.starts", "rotary.counted_positions", "rotary.rotary_frequencies", "rotary.llama3_frequencies", "rotary.yarn_frequencies",
                     "rwkv5.channel_power", "state_space.legs_basis"), "is a constant: it has no input and no parameter"),
    "layers.truncated_normal": "draws numbers that parameters start with",
    "shared_blocks.shared_transformer_place": "is what shared_transformer gives, with which it is checked",
    "hyena_family.readout_with": "its result is a layer, which hyena_experts calls",
    "vision.image_of_bytes": "its input is integers, and it has no parameter",
}


def split(text, separator=","):
    """At separators outside of brackets."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == separator and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    return [part.strip() for part in (*parts, text[last:]) if part.strip()]


def declarations():
    """(name, [(argument, type, has a default)]) of every layer."""
    for path in sorted((hybrid.models_folder() / "std").glob("*.hyb")):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^layer (\w+)\(", text, re.MULTILINE):
            end, depth = match.end(), 1
            while depth:
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            arguments = []
            for argument in split(text[match.end() : end - 1]):
                name, _, rest = argument.partition(":")
                kind, *default = split(rest, "=")
                arguments.append((name.strip(), kind, bool(default)))
            yield f"{path.stem}.{match[1]}", arguments


def dimensions(kind):
    """"[..., D]" as an input has it."""
    inside = kind[kind.index("[") + 1 : kind.rindex("]")]
    names = [name for part in split(inside) for name in (("B", "L") if part == "..." else (part,))]
    return kind[: kind.index("[")] + "[" + ", ".join(name if name in ("B", "L") or name.isdigit() else str(SIZES.get(name, name)) for name in names) + "]"


def module_of(name, arguments):
    case = dict(CASES.get(name, {}))
    given, outputs, page, settings = case.pop("inputs", {}), case.pop("outputs", None), case.pop("page", ""), case.pop("settings", {})
    inputs = given or {argument: dimensions(kind) for argument, kind, has_default in arguments if "[" in kind and not has_default}
    required = {} if page else {argument: NUMBERS.get(argument) for argument, kind, has_default in arguments if "[" not in kind and not has_default}
    file, layer = name.split(".")
    # By name, as others may stand between them.
    named = {f"{argument} = {argument}": shape for argument, shape in inputs.items()}
    words = {"inputs": named, "page": page, "settings": {**required, **case, **settings}, "batch": B, "length": L, "precision": "f64", "threads": 1}
    try:
        return hybrid.torch.layer("std." + file, "wrapped" if page else layer, outputs=outputs or ("y",), **words)
    except hybrid.CompileError as error:
        several = re.search(r"an output is a tensor, not a list of (\d+)", str(error))
        if outputs or not several:
            raise
        return hybrid.torch.layer("std." + file, layer, outputs=[f"y{i}" for i in range(int(several[1]))], **words)


def check(name, arguments):
    torch.manual_seed(1)
    module = module_of(name, arguments)
    with torch.no_grad():
        for parameter in module.parameters():  # what starts at zero is checked too
            parameter.add_(torch.empty_like(parameter).uniform_(-0.1, 0.1))
    shape = next(iter(module._shapes.values()))
    inputs = [torch.empty(spec.shape, dtype=torch.float64).uniform_(0.1, 0.9).requires_grad_() if spec.is_float
              else torch.randint(0, 3, spec.shape, dtype=torch.int32).sort()[0] for spec in shape.forward.inputs]

    def whole(*tensors):
        found = module(*tensors)
        return tuple(found.values()) if isinstance(found, dict) else found

    names, parameters = zip(*module.named_parameters()) if list(module.parameters()) else ((), ())

    places = [(module.get_submodule(folders)._parameters, last) for folders, _, last in (name.rpartition(".") for name in names)]

    def of_parameters(*values):  # torch.func.functional_call, which old versions lack
        for (place, name), value in zip(places, values):
            place[name] = value
        found = module(*(tensor.detach() for tensor in inputs))
        return tuple(found.values()) if isinstance(found, dict) else found

    checked = 0
    if any(tensor.requires_grad for tensor in inputs):
        checked += torch.autograd.gradcheck(whole, inputs)
    if parameters:
        checked += torch.autograd.gradcheck(of_parameters, [value.detach().clone().requires_grad_() for value in parameters], fast_mode=True)
    assert checked, "it has neither inputs nor parameters to differentiate by"


def main():
    passed, failed, found = 0, 0, dict(declarations())
    for unknown in (CASES.keys() | OUTSIDE.keys() | set(sys.argv[1:])) - found.keys():
        sys.exit(f"layers.py: there is no layer {unknown}")
    for name in sys.argv[1:] or found:
        if name in OUTSIDE:
            continue
        try:
            check(name, found[name])
            passed += 1
            print(f"{name}: ok", flush=True)
        except Exception as error:  # noqa: BLE001 - all are reported
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
    print(f"gradients of {passed} layers are right, {failed} failed, {len(OUTSIDE)} not checked")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
