"""Training within a memory budget: a session allocates what was predicted, no more than the budget, and computes the same. With few rows these are the same bits;
with 512 and more, tiles of rows come and go with the budget, and with them the order of sums over rows. A session that evaluates allocates what was predicted, too.

Budgets are at PARTS (such as 0,0.5,1) of the way from the least that can be met to what is needed anyway; without PARTS there are none.

usage: check-memory.py BIN MODELS FOLDER BATCH PARTS MODEL [SETTING...] [FLAG...]

A FLAG is one of hybridc's, such as --target=cuda:shim.
"""
import json
import pathlib
import re
import struct
import subprocess
import sys

binaries, models, folder = map(pathlib.Path, sys.argv[1:4])
batch, length = int(sys.argv[4]), 64
parts = [float(part) for part in sys.argv[5].split(",") if part]
flags = [word for word in sys.argv[7:] if word.startswith("--")]
model, settings = sys.argv[6], [flag for word in sys.argv[7:] if word not in flags for flag in ("--set", word)]
source, shape = models / f"mad/{model}.hyb", ["--batch", str(batch), "--length", str(length), *settings, *flags]
folder.mkdir(parents=True, exist_ok=True)


def run(tool, *arguments, status=0):
    result = subprocess.run([binaries / tool, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert result.returncode == status, f"{tool} {arguments}: status {result.returncode}\n{result.stderr}"
    return result.stdout if status == 0 else result.stderr


def tensors(path):
    """The bytes of a safetensors file's tensors, without its metadata."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]] for name, entry in header.items()}


def train(name, *flags, threads=1):
    """What three steps give, and what a session allocates; checked against the predictions of hybridc and hybrid-run info."""
    executable, out = folder / f"{name}.hyx", folder / name
    run("hybridc", source, *shape, "--threads", threads, *flags, "-o", executable)
    info = json.loads(run("hybrid-run", "info", "--json", "--threads", threads, executable))
    told = info["memory"]
    assert all(info["cost"]["memory"][name] == value for name, value in told.items()), (name, told, info["cost"]["memory"])
    run("hybrid-run", "train", executable, "--task", "in-context-recall:length=64", "--steps=3", "--report-every=1", "--final-examples=4",
        "--threads", threads, "--quiet", "--out", out)
    allocated = json.loads((out / "summary.json").read_text())["allocated_bytes"]
    # One replica has trained. On a GPU those that rest meanwhile have their state aside: parameters, gradients and both moments.
    aside = 4 * (info["replicas"] - 1) * info["parameter_bytes"] if info["target"]["device"] == "cuda" else 0
    assert allocated == told["total_bytes"] + aside, (name, allocated, told)
    evaluation = json.loads(run("hybrid-run", "bench", executable, "--program=eval", "--steps=1", "--warmup=0",
                                "--threads", threads, "--json"))["allocated_bytes"]
    assert evaluation == told["evaluation_bytes"], (name, evaluation, told)
    losses = [json.loads(line).get("loss") for line in (out / "metrics.jsonl").read_text().splitlines()]
    return allocated, losses, tensors(out / "checkpoints/step-00000003.safetensors"), info["cost"]["training_step"]


full, losses, parameters, step = train("full")
if not parts:
    sys.exit()
assert len(losses) >= 3 and step["recomputed_flops"] == 0, (losses, step)
refused = run("hybridc", source, *shape, "--threads", 1, "--memory", "1kB", status=1)
least = int(re.search(r"takes at least .* \((\d+) B\)", refused).group(1))
assert least < full and (flags or least < 0.75 * full), (least, full)
run("hybridc", source, *shape, "--threads", 1, "--memory", least - 1, "-o", folder / "never.hyx", status=1)
assert not (folder / "never.hyx").exists()
seen = set()
for part in parts:
    budget = int(least + part * (full - least))
    allocated, *results, step = train(f"part{part}", "--memory", budget)
    assert allocated <= budget, (part, allocated, budget)
    same = results == [losses, parameters] if batch * length < 512 else \
        all(abs(a - b) < 1e-4 * abs(a) for a, b in zip(losses, results[0], strict=True) if a is not None)
    assert same, f"other results at {budget} of {full} bytes: {results[0]}, not {losses}"
    assert (step["recomputed_flops"] > 0) if part == 0 else (step["recomputed_flops"] == 0 or allocated < full), (part, step)
    seen.add(allocated)
assert len(seen) == len(parts), seen
# Each thread takes its scratch.
if flags:
    sys.exit()
two = train("two", "--memory", full, threads=2)[0]
assert two <= full, (two, full)
