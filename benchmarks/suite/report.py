"""benchmarks/RESULTS.md from a result file: every number in it is the file's."""

import statistics

EMPTY = "–"


def number(value, form="{:.1f}"):
    return EMPTY if value is None else form.format(value)


def mebibytes(value):
    return number(value and value / 2**20, "{:.0f}")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def summary(rows, peers=("eager", "compile")):
    """Geometric mean and minimum of each ratio; for the JSON and the report."""
    found = {}
    for dtype in sorted({row["dtype"] for row in rows}, reverse=True):
        for peer in peers:
            ratios = {row["model"]: row[f"ratio_{peer}"] for row in rows if row["dtype"] == dtype and row[f"ratio_{peer}"]}
            if ratios:
                worst = min(ratios, key=ratios.get)
                found[f"{dtype}_{peer}"] = {"models": len(ratios), "geometric_mean": statistics.geometric_mean(ratios.values()),
                                            "minimum": ratios[worst], "minimum_model": worst}
    return found


def summary_lines(found, keys):
    text = ""
    for key in keys:
        if key in found:
            value = found[key]
            text += (f"\n{key.replace('_', ', ', 1)}: geometric mean {value['geometric_mean']:.2f}, minimum {value['minimum']:.2f} "
                     f"({value['minimum_model']}), {value['models']} models.\n")
    return text


def failures(rows, name, peers):
    lines = [f"- {name(row)}, {peer}: {row[f'{peer}_failure']}" for row in rows for peer in peers if f"{peer}_failure" in row]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def baseline(result):
    text = ""
    for dtype in ("f32", "bf16"):
        rows = [row for row in result.get("mad_step", []) if row["dtype"] == dtype]
        if not rows:
            continue
        first = rows[0]
        text += f"\n## A training step at the MAD baseline, {dtype}\n\n"
        text += (f"Batch {first['batch']}, length {first['length']}, {first['threads']} threads; medians of {first['rounds']} turns of "
                 f"{first['steps_a_round']} steps. Ratios are how many times longer PyTorch takes, turn by turn.\n\n")
        text += table(["model", "ms", "tokens/s", "eager ms", "compile ms", "× eager", "× compile", "MiB", "eager MiB"],
                      [[row["model"], number(row["ms"]), number(row["tokens_per_second"], "{:.0f}"), number(row["peer_eager_ms"]),
                        number(row["peer_compile_ms"]), number(row["ratio_eager"], "{:.2f}"), number(row["ratio_compile"], "{:.2f}"),
                        mebibytes(row["peak_bytes"]), mebibytes(row["peer_peak_bytes"])] for row in rows])
        for key, value in result.get("summary", {}).items():
            if key.startswith(dtype):
                text += (f"\n{key[len(dtype) + 1:]}: geometric mean {value['geometric_mean']:.2f}, minimum {value['minimum']:.2f} "
                         f"({value['minimum_model']}), {value['models']} models.\n")
        text += failures(rows, lambda row: row["model"], ("eager", "compile"))
    return text


def lengths(result):
    rows = result.get("length_step", [])
    if not rows:
        return ""
    text = "\n## Long sequences, f32\n\nA training step; PyTorch eager. From 65536 on without a peer.\n\n"
    text += table(["model", "length", "batch", "ms", "µs a token", "tokens/s", "eager ms", "× eager", "MiB", "eager MiB"],
                  [[row["model"], str(row["length"]), str(row["batch"]), number(row["ms"]), number(row["us_per_token"], "{:.2f}"),
                    number(row["tokens_per_second"], "{:.0f}"), number(row["peer_eager_ms"]), number(row["ratio_eager"], "{:.2f}"),
                    mebibytes(row["peak_bytes"]), mebibytes(row["peer_peak_bytes"])] for row in rows])
    return text + failures(rows, lambda row: f"{row['model']} at {row['length']}", ("eager",))


def ops(result):
    rows = result.get("op", [])
    if not rows:
        return ""
    sizes = lambda row: " ".join(f"{row[key]}" + {"batch": " ×", "heads": " heads", "decays": " decays", "inputs": " →"}.get(key, "")
                                 for key in ("batch", "length", "heads", "decays", "inputs", "outputs") if key in row)
    text = "\n## Ops\n\n"
    text += ("GFLOP/s and GB/s count what the definition needs, not what a kernel does. PyTorch is eager: its fused form, or for a scan the "
             "better of the loop over time and the products in chunks.\n\n")
    lines = []
    for row in rows:
        ratios = [row[key] for key in ("ratio_eager", "ratio_loop", "ratio_chunked") if row.get(key)]
        peers = [row[key] for key in ("peer_eager_ms", "peer_loop_ms", "peer_chunked_ms") if row.get(key)]
        lines.append([f"{row['op']} {'and gradient' if row['backward'] else ''}".strip(), row["dtype"], sizes(row), number(row["ms"], "{:.2f}"),
                      number(row["gflops"]), number(row["gb_per_second"]), number(min(peers, default=None), "{:.2f}"),
                      number(min(ratios, default=None), "{:.2f}"), number(row.get("ratio_loop"), "{:.2f}")])
    text += table(["op", "dtype", "batch × length, sizes", "ms", "GFLOP/s", "GB/s", "PyTorch ms", "× PyTorch", "× loop over time"], lines)
    return text + failures(rows, lambda row: f"{row['op']} {sizes(row)}", ("eager", "loop", "chunked"))


SUITES = ("mad_step", "length_step", "op", "neighbours")


def with_suites_of(result, others):
    """The result with each suite that it lacks from the first of the others that has it, and in `elsewhere` which run that was."""
    result = dict(result, elsewhere={})
    for other in others:
        for suite in SUITES:
            if other.get(suite) and not result.get(suite):
                result[suite] = other[suite]
                result["elsewhere"][suite] = f"Measured {other['date']} with `{other['command']}` at commit {other['commit'][:10]}."
    return result


def section(result, suite, text):
    """The text, with which run it is from below its heading if that is another one."""
    run = result.get("elsewhere", {}).get(suite)
    return text.replace("\n\n", f"\n\n{run}\n\n", 1) if run else text


def neighbours(result):
    rows = result.get("neighbours", [])
    if not rows:
        return ""
    text = ("\n## Beside busy processes, f32\n\nA training step at the MAD baseline while other processes keep a core busy each, and how many times "
            "as long as without them.\n\n")
    times = lambda row, side, count: (EMPTY if row[f"{side}_{count}"] is None or row[f"{side}_0"] is None
                                      else f"{row[f'{side}_{count}']:.0f} ({row[f'{side}_{count}'] / row[f'{side}_0']:.2f})")
    text += table(["model", "ms alone", "beside 1", "beside 2", "eager ms alone", "beside 1", "beside 2"],
                  [[row["model"], *(number(row[f"{side}_0"], "{:.0f}") if count == 0 else times(row, side, count)
                                    for side in ("ms", "eager_ms") for count in (0, 1, 2))] for row in rows])
    return text + failures(rows, lambda row: row["model"], ("eager",))


def ceilings(result):
    rows = result["machine"].get("ceilings", {}).get("rows", [])
    if not rows:
        return ""
    text = "\n## What the machine can do at most\n\n"
    return text + table(["", "working set of a thread", "threads", "rate"],
                        [[row["name"], f"{row['kib_a_thread']} KiB" if row["kib_a_thread"] else "registers", str(row["threads"]),
                          f"{row['per_second'] / 1e9:.1f} G{row['unit']}{'/s'}"] for row in rows])


def write(result):
    """Of benchmarks/run's result file or of tools/gpu-check's."""
    if "gpu" in result:
        from . import gpu_report

        return gpu_report.write(result)
    machine = result["machine"]
    load = result["load_average"]
    text = "# Results\n\nWritten by `benchmarks/run` from its result file; not edited by hand.\n\n"
    text += table(["machine", ""], [
        ["CPU", f"{machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads used"
                + ", whose CPU time is what is given: the machine had other work to do" * machine.get("cpu_time", False)],
        ["caches", ", ".join(f"{name} {size}" for name, size in machine["caches_of_a_core"].items())],
        ["instructions", " ".join(machine["isa"])],
        ["memory", f"{machine['memory_bytes'] / 2**30:.1f} GiB"],
        ["system", machine["system"]],
        ["Hybrid", f"{machine['compiler']}, {machine['matrices']}, {machine['code_level']}; commit {result['commit'][:10]}"],
        ["PyTorch", f"{machine['torch']}, oneDNN {machine['torch_onednn']}, {machine['torch_capability']}"],
        ["date", f"{result['date']}, `{result['command']}`, {result['seconds'] / 60:.1f} minutes"],
        ["load average", f"{load['start'][0]:.2f} at the start, {load['end'][0]:.2f} at the end"],
    ])
    for suite, write_suite in zip(SUITES, (baseline, lengths, ops, neighbours)):
        text += section(result, suite, write_suite(result))
    text += ceilings(result)
    text += ("\nMemory is the peak of the process: PyTorch's includes its libraries, about "
             f"{mebibytes(next((r['peer_base_bytes'] for r in result.get('mad_step', []) + result.get('length_step', []) if r.get('peer_base_bytes')), None))} MiB"
             " before a model is made.\n")
    if result["failures"]:
        text += "\n## Not measured\n\n" + "\n".join(f"- {failure.splitlines()[0]}" for failure in result["failures"]) + "\n"
    return text
