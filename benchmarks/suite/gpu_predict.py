"""Predicts the time of models and of the cases of a GPU check, without a GPU: compiles, counts, and asks prediction.py."""

import concurrent.futures
import contextlib
import hashlib
import json
import pathlib
import subprocess
import tempfile
import threading

from . import gpu_cases, prediction
from .gpu_bundle import call, compiler_arguments
from .processes import ROOT, Failure
from .report import table
from .training import model_files, settings_of

PROGRAMS = {"train": ["train", "update"], "vjp": ["vjp"], "forward": ["forward"], "update": ["update"]}
LOCKS = {}
NAMES = [name for name in prediction.load_devices() if "name" in prediction.load_devices()[name]]


def counts_of(options, hyx, programs):
    """What hybrid-ptx-count says of an executable that has PTX."""
    words = [word for name in programs for word in ("--program", name)]
    return json.loads(call([options.bin / "hybrid-ptx-count", hyx, *words], options.limit))


def count_case(options, case, target, folder):
    """Of all programs that a case of this executable may be about: compiled once, and kept in `folder` for the next."""
    identity = [case[key] for key in ("source", "dtype", "batch", "length", "settings")] + [case.get("attention"), target]
    path = pathlib.Path(folder) / f"{hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]}.json"
    with LOCKS.setdefault(str(path), threading.Lock()):
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        attention = [f"--attention={case['attention']}"] if "attention" in case else []
        hyx = path.with_suffix(".hyx")
        call([options.bin / "hybridc", *compiler_arguments(case), *attention, f"--target={target}", "-o", hyx], options.limit)
        counts = counts_of(options, hyx, ["train", "update"] if case["program"] in ("train", "update") else ["forward", "vjp"])
        hyx.unlink()
        path.write_text(json.dumps(counts), encoding="utf-8")
        return counts


def model_case(options, path):
    settings = dict(word.split("=", 1) for word in options.set)
    return {"suite": "models", "name": path.stem, "source": str(path.resolve()), "dtype": options.precision, "batch": options.batch,
            "length": options.length, "settings": settings, "program": options.program}


def goal(op, dtype, program, batch, length, **settings):
    name = "-".join([op, *(f"{key}{value}" for key, value in settings.items()), f"batch{batch}", f"length{length}", dtype, program])
    return {"suite": "ops", "name": name, "op": op, "source": f"benchmarks/ops/{op}.hyb", "dtype": dtype, "batch": batch, "length": length,
            "sizes": settings, "settings": {**settings, **({"taps": length} if op == "gated_convolution" else {})}, "program": program}


def goals():
    """What docs/book/gpu.md has predictions of: a training step of every MAD model, and the operators that papers publish times of."""
    steps = [{"suite": "mad", "name": f"{name}-bf16", "model": name, "source": str(path.relative_to(ROOT)), "dtype": "bf16", "batch": 128, "length": 128,
              "settings": settings_of(path, 128), "program": "train"} for name, path in model_files().items()]
    first = [case for case in steps if case["model"] in gpu_cases.MAD_FIRST]
    ops = []
    for program in ("forward", "vjp"):
        ops += [goal(op, "bf16", program, 8, 2048) for op in ("gated_linear_attention", "delta_rule")]
        ops += [goal("gated_convolution", "bf16", program, 64, 1024 << i, channels=768) for i in range(7)]
        ops += [goal("selective_scan", "bf16", program, 8, 2048 << i, channels=1536, states=16) for i in range(6)]
        ops += [goal("attention", "bf16", program, 8, 2048, heads=1024 // size, width=1024) for size in (8, 16, 32, 64, 128)]
    return [*first, *ops, *(case for case in steps if case not in first)]


def summary(rows):
    """Milliseconds, with branches side by side; launches, megabytes, and the time that launches take by themselves, by limit."""
    whole = prediction.total(rows)
    limits = {}
    for row in rows:
        limits[row["limit"]] = limits.get(row["limit"], 0) + row["us"]
    return {"ms": whole["us"] / 1e3, "ms_one_by_one": whole["alone_us"] / 1e3, "launches": whole["launches"], "dram_mb": whole["dram_mb"],
            "limits": {limit: us / 1e3 for limit, us in sorted(limits.items(), key=lambda item: -item[1])},
            "slowest": [{key: row[key] for key in ("op", "kind", "launches", "us", "limit", "dram_mb")} for row in prediction.by_op(rows)[:8]]}


def say(result, names, most):
    text = ""
    for row in result:
        text += f"\n{row['name']} ({row['dtype']}, batch {row['batch']}, length {row['length']}, {row['program']})\n"
        for name in names:
            at = row["predicted"][name]
            limits = ", ".join(f"{limit} {ms:.3f}" for limit, ms in at["limits"].items())
            alone = f" ({at['ms_one_by_one']:.3f} one by one)" if at["ms_one_by_one"] > at["ms"] + 5e-4 else ""
            text += f"  {name}: {at['ms']:.3f} ms{alone} in {at['launches']} launches, {at['dram_mb']:.1f} MB of memory traffic; by limit: {limits}\n"
        lines = [[item["op"], item["kind"], str(item["launches"]), f"{item['us']:.1f}", item["limit"], f"{item['dram_mb']:.1f}"]
                 for item in row["predicted"][names[0]]["slowest"][:most]]
        text += f"\nslowest on {names[0]}\n\n" + table(["op", "kernel", "launches", "us", "limit", "MB"], lines)
    return text


def predict_case(options, case, names, folder):
    """The case with `predicted` by device; counts are kept in `folder`."""
    devices, predicted = prediction.load_devices(options.devices or prediction.TABLE), {}
    for name in names:
        gpu, source = prediction.device(name, devices), pathlib.Path(case["source"])
        counts = (counts_of(options, source, PROGRAMS[case["program"]]) if source.suffix == ".hyx" else
                  count_case(options, case, gpu["target"], folder))
        predicted[name] = summary(prediction.predict(counts, PROGRAMS[case["program"]], gpu))
    keep = ("suite", "name", "op", "model", "program", "dtype", "batch", "length", "sizes", "settings", "source")
    return {**{key: case[key] for key in keep if key in case}, "predicted": predicted}


@contextlib.contextmanager
def counts_folder(options):
    if options.counts:
        options.counts.mkdir(parents=True, exist_ok=True)
        yield options.counts
        return
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def run(options):
    names = options.device or ["h100"]
    cases = [model_case(options, path) for path in options.models]
    if options.only or options.case:
        cases += [case for case in gpu_cases.every_case(options.quick) if options.takes(case)]
    if options.goals:
        cases += goals()
    if not cases:
        raise Failure("nothing to predict: name models, cases with --only or --case, or --goals")
    result, failed = [], []
    with counts_folder(options) as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, job in [(case, pool.submit(predict_case, options, case, names, folder)) for case in cases]:
            try:
                result.append(job.result())
                print(say(result[-1:], names, options.most), flush=True)
            except (Failure, subprocess.TimeoutExpired) as failure:
                failed.append(case["name"])
                print(f"{case['name']}: {failure}", flush=True)
            if options.json:
                options.json.write_text(json.dumps({"note": "predictions of a model, nothing was measured", "assumptions": prediction.ASSUMPTIONS,
                                                    "cases": result, "failed": failed}, indent=1) + "\n")
    print(f"These are predictions. They assume:\n{prediction.ASSUMPTIONS}")
    return 1 if failed else 0


def calibrate(options):
    """Fits the constants to what `run` measured, and says how far off each case is before and after."""
    with open(options.results, encoding="utf-8") as file:
        results = json.load(file)
    name = next((name for name in NAMES if name in results["gpu"].lower()), None)
    if not name:
        raise Failure(f"'{results['gpu']}' is none of the devices of {prediction.TABLE.name}: {', '.join(NAMES)}")
    rows = {row["case"]: row["ms"] for part in ("mad_step", "op", "lm_step") for row in results[part] if row.get("ms")}
    cases = [case for case in gpu_cases.every_case(options.quick) if case["name"] in rows and options.takes(case)]
    table_of, measured = prediction.load_devices(), []
    with counts_folder(options) as folder:
        for case in cases:
            counts = count_case(options, case, prediction.device(name)["target"], folder)
            measured.append((counts, PROGRAMS[case["program"]], name, rows[case["name"]] * 1e3))
    if not measured:
        raise Failure(f"{options.results} has no case that could be counted here")
    fitted = prediction.calibrate(table_of, measured)
    for case, (counts, programs, _, us) in zip(cases, measured):
        before, after = (prediction.total(prediction.predict(counts, programs, prediction.device(name, of)))["us"] for of in (table_of, fitted))
        print(f"{case['name']}: measured {us / 1e3:.3f} ms, predicted {before / 1e3:.3f}, calibrated {after / 1e3:.3f}")
    options.out.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")
    print(f"{options.out}: {fitted['fitted']}")
    return 0
