"""Checks the JSON of `hybrid-run scale`: check-scale.py fit|predict|plan FILE, or families FILE PAPERS"""
import json
import sys

kind, path = sys.argv[1:3]
with open(path, encoding="utf-8") as file:
    data = json.load(file)


def holds(estimate, value):
    assert estimate["low"] <= value <= estimate["high"], (estimate, value)


if kind == "fit":
    assert data["kind"] == "scaling-fit", data["kind"]
    transformer, striped = data["groups"]
    assert (transformer["group"], striped["group"]) == ("transformer", "striped")
    # The laws that the points were drawn from.
    holds(transformer["parametric"]["alpha"], 0.34)
    holds(transformer["parametric"]["beta"], 0.28)
    holds(transformer["parametric"]["E"], 1.69)
    holds(striped["parametric"]["alpha"], 0.345)
    holds(striped["parametric"]["beta"], 0.285)
    holds(transformer["frontier"]["params"]["exponent"], 0.28 / 0.62)
    holds(transformer["frontier"]["tokens"]["exponent"], 0.34 / 0.62)
    for group in data["groups"]:
        assert group["warnings"] == [], group["warnings"]
        assert len(group["budgets"]) == 5 and all(each["refused"] is None for each in group["budgets"])
elif kind == "predict":
    for group in data["groups"]:
        assert 9 < group["beyond"] < 11, group["beyond"]
        assert group["loss"]["low"] < group["loss"]["value"] < group["loss"]["high"]
        assert abs(6 * group["params"]["value"] * group["tokens"]["value"] / 1e20 - 1) < 0.02, group
        assert group["batch_tokens"] == 2**19 and group["steps"] == round(group["tokens"]["value"] / 2**19)
elif kind == "plan":
    # Table D.2 prints sizes that the counted ones meet within 1.3 %; tokens are what the budget buys.
    assert [each["size"] for each in data["runs"]] == ["350M", "440M"] * 2
    for run in data["runs"]:
        printed = float(run["size"][:-1]) * 1e6
        assert abs(run["params"] / printed - 1) < 0.013, run
        assert abs(run["flops"] / run["budget"] - 1) < 1e-3, run
        assert abs(run["flops_per_token"] * run["tokens"] / run["flops"] - 1) < 1e-9, run
        assert run["batch"] * 8192 == 2**19 and run["warmup"] == round(run["steps"] / 100), run
        # The rate follows the counted size, which is not quite the printed one.
        assert abs(run["learning_rate"] - {"350M": 6e-4, "440M": 5.66e-4}[run["size"]]) < 0.03e-4, run
        # 4LDV + N (6LD^2 + 4L^2 D + 2HL^2 + 2LD^2 + 6LDF), three times: appendix C.4.1.
        width, inner, heads, layers = {"350M": (1024, 2736, 16, 24), "440M": (1152, 3072, 18, 24)}[run["size"]]
        length, vocab = 8192, 50257
        layer = 8 * width**2 + 4 * length * width + 2 * heads * length + 6 * width * inner
        assert abs(run["flops_per_token"] / (3 * (4 * width * vocab + layers * layer)) - 1) < 1e-9, run
        assert run["seconds"] == run["flops"] / (989e12 * 0.4), run
elif kind == "families":
    # Total parameters as tables D.2 (Transformer++'s), D.3 and D.4 print them.
    printed, budgets = {}, {8e18: 0, 8e19: 0}
    for table in "234":
        with open(f"{sys.argv[3]}/mad-table-d.{table}.json", encoding="utf-8") as file:
            printed |= json.load(file)["printed"]
    assert data["device"]["name"] == "h100"
    for run in data["runs"]:
        assert abs(run["params"] / 1e6 / printed[run["architecture"]][run["size"]] - 1) < {"mamba": 0.07}.get(run["architecture"], 0.02), run
        assert abs(run["flops_per_token"] * run["tokens"] / run["budget"] - 1) < 1e-3, run
        assert run["batch"] * 8192 == 2**19, run
        # An estimate of time from the rate alone, and of memory from the compiler.
        assert run["seconds"] == run["flops"] / (989e12 * 0.4), run
        rest = run["memory_bytes_of_one_sequence"] - (run["memory_bytes"] - run["memory_bytes_of_one_sequence"]) / 63
        each = run["memory_bytes_of_one_sequence"] - rest
        assert 0 < run["sequences_that_fit"] == int((80e9 - rest) / each) < 64, run
        budgets[run["budget"]] += 1
    assert budgets == {8e18: 5, 8e19: 5}, budgets
else:
    sys.exit(f"no check is called {kind}")
