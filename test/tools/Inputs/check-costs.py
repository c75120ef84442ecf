"""Sums in the JSON of `hybridc --cost=json` on costs.hyb; with a second file, that of a paper's method."""
import json
import sys

cost = json.load(open(sys.argv[1], encoding="utf-8"))
ops = {op["op"]: op for op in cost["ops"]}
assert cost["tokens"] == 16 and "published" not in cost
assert cost["forward_flops"] == sum(op["flops"] for op in cost["ops"])
assert cost["forward_bytes"] == sum(op["bytes"] for op in cost["ops"])
assert cost["forward_flops_per_token"] == cost["forward_flops"] / 16
assert ops["embedding"]["bytes"] == 4 * (16 + 2 * 16 * 8), ops["embedding"]
assert ops["short_conv"]["flops"] == 2 * 3 * 16 * 8
assert abs(ops["linear"]["flops_per_byte"] - ops["linear"]["flops"] / ops["linear"]["bytes"]) < 1e-9

memory = cost["memory"]
assert memory["optimizer_bytes"] == 3 * memory["parameter_bytes"] >= 3 * 4 * cost["parameters"]
assert memory["inference_activation_bytes"] == cost["arena_bytes"]["forward"]
assert memory["training_activation_bytes"] == cost["arena_bytes"]["train"]
assert memory["training_peak_bytes"] == (memory["parameter_bytes"] + memory["optimizer_bytes"] +
                                         memory["constant_bytes"] + memory["training_activation_bytes"])

if len(sys.argv) > 2:
    paper = json.load(open(sys.argv[2], encoding="utf-8"))
    published = paper.pop("published")
    assert paper == cost, "a method changes no other number"
    L, D, H, V = 8, 8, 2, 32
    attention = 6 * L * D**2 + 4 * L**2 * D + 2 * H * L**2 + 2 * L * D**2  # MAD, appendix C.4
    want = 4 * L * D * V + 2 * attention + 1.5 * 3
    assert published["flops_per_sequence"] == want, (published["flops_per_sequence"], want)
    assert published["flops_per_sequence"] == sum(term["flops_per_sequence"] for term in published["terms"])
    assert published["training_flops_per_token"] == 3 * want / L
