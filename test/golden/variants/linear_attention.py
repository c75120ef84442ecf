"""Every feature map, maps that are tied, normalised and widened; gated linear attention with its clamp and another gate."""

import math

import formulas as f


def t2r(w):
    return lambda row: [max(a, 0.0) for a in f.linear([row], w["weight"], w["bias"])[0]]


def taylor(_):
    return lambda row: [1.0] + [a / len(row)**0.25 for a in row] + [a * b / math.sqrt(2 * len(row)) for a in row for b in row]


def dpfp(_):
    def run(row):
        both = [max(a, 0.0) for a in row] + [-max(a, 0.0) for a in row]
        return [both[i] * both[(i - j) % len(both)] for j in range(1, 5) for i in range(len(both))]
    return run


def hedgehog(w):
    def run(row):
        a = f.linear([row], w["weight"], w["bias"])[0]
        return f.softmax([2 * x for x in a] + [-2 * x for x in a])
    return run


def product(w):
    return lambda row: f.multiply(f.linear([row], w["weight1"], w["bias1"]), f.linear([row], w["weight2"], w["bias2"]))[0]


def case(cases, name, maker, heads, learned, tie=False, sums=False, **options):
    B, L, D = 2, 6, 8
    keys, values = options.pop("keys", D), options.pop("values", D)
    x = cases.array(B, L, D)
    w = {"q": cases.array(keys, D), "k": cases.array(keys, D), "v": cases.array(values, D), "out": cases.array(D, values)}
    size, maps, tensors = keys // heads, {}, []
    for side in "qk":
        suffixes = {"layer": [""], "layer12": ["1", "2"], None: []}[learned]
        weights = {}
        for s in suffixes:
            weights["weight" + s], weights["bias" + s] = cases.array(size, size), cases.draw(size)
        if tie and side == "k":
            maps["k"] = maps["q"]
            weights = maps["weights"]
        else:
            maps[side] = maker(weights)
            maps["weights"] = weights
            tensors += [("param", f"feature_map_{side}.layer{key[-1] if key[-1] in '12' else ''}.{key.rstrip('12')}", value)
                        for key, value in weights.items()]
    scaled = (lambda m: lambda row: (lambda y: [a / (math.fsum(y) + 1e-4) for a in y])(m(row))) if sums else (lambda m: m)
    y = [f.linear_attention(rows, w, heads, scaled(maps["q"]), scaled(maps["k"]), options.get("normalised", True)) for rows in x]
    config = dict(B=B, L=L, D=D, feature_map=name.split("-")[0], heads=heads, normalised=options.get("normalised", True), eps=1e-12, scale=1.0,
                  tie_feature_map_qk=tie, norm_q=sums, norm_k=sums)
    tensors += [("param", f"proj_{key}.weight", w[key]) for key in "qkv"] + [("param", "out_proj.weight", w["out"])]
    cases.add("linear_attention_" + name, "linear_attention", config, [("input", "x", x)] + tensors + [("output", "y", y)])


def gated(cases, name, key, value, heads, **options):
    B, L, D, rank = 2, 6, 8, 3
    x = cases.array(B, L, D)
    w = {"q": cases.array(key, D), "k": cases.array(key, D), "v": cases.array(value, D), "gate": cases.array(value, D), "decay_in": cases.array(rank, D),
         "decay_out": cases.array(key, rank), "decay_bias": cases.draw(key), "norm": cases.draw(value // heads), "out": cases.array(D, value)}
    activation = {"gelu": f.gelu, "swish": f.silu}[options.get("gate_fn", "swish")]
    y = [f.gated_linear_attention(rows, w, heads, options.get("gate_logit_normalizer", 16), options.get("clamp_min"),
                                  options.get("layernorm_eps", 1e-5), activation) for rows in x]
    names = {"q": "q_proj.weight", "k": "k_proj.weight", "v": "v_proj.weight", "gate": "g_proj.weight", "decay_in": "gk_proj.0.weight",
             "decay_out": "gk_proj.1.weight", "decay_bias": "gk_proj.1.bias", "norm": "g_norm.weight", "out": "o_proj.weight"}
    config = dict(B=B, L=L, D=D, expand_k=key / D, expand_v=value / D, num_heads=heads, gate_low_rank_dim=rank, **options)
    cases.add(name, "gla", config, [("input", "x", x)] + [("param", names[n], value) for n, value in w.items()] + [("output", "y", y)])


def write(cases):
    case(cases, "t2r", t2r, 2, "layer")
    case(cases, "taylor", taylor, 4, None)
    case(cases, "dpfp", dpfp, 4, None, normalised=False)
    case(cases, "hedgehog-sums", hedgehog, 2, "layer", sums=True)
    case(cases, "elementwise_product-tied", product, 2, "layer12", tie=True)
    case(cases, "identity-wide", lambda _: lambda row: row, 2, None, keys=4, values=12, normalised=False)
    gated(cases, "gla_clamped", 4, 12, 2, clamp_min=-0.03, gate_logit_normalizer=8, layernorm_eps=1e-3, gate_fn="gelu")
    gated(cases, "gla_one_head", 8, 8, 1)
