"""Markdown of a GPU's result file: every number in it is the file's."""

from .report import EMPTY, number, summary_lines, table

MODES = ("eager", "compile", "graph", "compile_graph")


def line(row):
    """A row as it is measured."""
    text = f"{number(row['ms'], '{:.3f}')} ms, {number(row['times_floor'], '{:.2f}')} x floor"
    if row.get("predicted_ms"):
        text += f", {row['predicted_ms']:.3f} ms predicted"
    if "peers" in row:
        for form, peer in row["peers"].items():
            text += f", {number(peer['ratio'], '{:.2f}')} x {form}" + (f" ({peer['failure']})" if "failure" in peer else "")
        return text
    for mode in MODES:
        if row[f"peer_{mode}_ms"] or f"{mode}_failure" in row:
            text += f", {number(row[f'ratio_{mode}'], '{:.2f}')} x {mode}" + (f" ({row[f'{mode}_failure']})" if f"{mode}_failure" in row else "")
    return text


def steps(rows, title):
    if not rows:
        return ""
    text = f"\n## {title}\n\n"
    lines = [[named(row, "model"), row["dtype"], f"{row['batch']} × {row['length']}", number(row["ms"], "{:.3f}"), number(row["tokens_per_second"], "{:.0f}"),
              number(row["floor_ms"], "{:.3f}"), number(row["times_floor"]), number(row.get("predicted_ms"), "{:.3f}"), *(number(row[f"peer_{mode}_ms"], "{:.3f}") for mode in MODES),
              *(number(row[f"ratio_{mode}"], "{:.2f}") for mode in MODES)] for row in rows]
    names = [mode.replace("_", "+") for mode in MODES]
    text += table(["model", "dtype", "batch × length", "ms", "tokens/s", "floor ms", "× floor", "predicted ms", *(f"{name} ms" for name in names),
                   *(f"× {name}" for name in names)], lines)
    problems = [f"- {row['case']}, {mode}: {row[f'{mode}_failure']}" for row in rows for mode in MODES if f"{mode}_failure" in row]
    return text + ("\n" + "\n".join(problems) + "\n" if problems else "")


def named(row, key):
    """With who computes attention where the case says so."""
    return f"{row[key]} ({row['attention']})" if row.get("attention") else row[key]


def sizes(row):
    return " ".join(f"{key} {value}" for key, value in row["sizes"].items())


def ops(rows):
    if not rows:
        return ""
    text = "\n## Operations\n\n"
    text += ("`vjp` is the value and all gradients, `update` the optimizer's step. PyTorch is the best of its forms, each launched one by one or as "
             "a graph, whichever is faster; all of them stand below.\n\n")
    lines = [[named(row, "op"), row["program"], row["dtype"], sizes(row), number(row["ms"], "{:.3f}"), number(row["floor_ms"], "{:.3f}"), row["floor_bound"],
              number(row["times_floor"], "{:.2f}"), number(row.get("predicted_ms"), "{:.3f}"), number(row["bytes_per_second"] and row["bytes_per_second"] / 1e12, "{:.2f}"),
              number(row["peer_best_ms"], "{:.3f}"), row["best_peer"] or EMPTY, number(row["ratio_best"], "{:.2f}")] for row in rows]
    text += table(["op", "program", "dtype", "sizes", "ms", "floor ms", "bound by", "× floor", "predicted ms", "TB/s", "PyTorch ms", "form", "× PyTorch"], lines)
    forms = [[row["case"], form, number(peer["ms"], "{:.3f}"), number(peer["graph_ms"], "{:.3f}"), number(peer["ratio"], "{:.2f}"),
              peer.get("failure") or (f"graph: {peer['graph_failure']}" if "graph_failure" in peer else "")]
             for row in rows for form, peer in row["peers"].items()]
    if forms:
        text += "\n### Every form of PyTorch\n\n" + table(["case", "form", "ms", "ms as a graph", "× ours", "failure"], forms)
    return text


def write(result):
    machine = result["machine"]
    text = f"# Results on {result['gpu']}\n\nWritten by `tools/gpu-check` from its result file; not edited by hand.\n\n"
    rates = [f"{name} {rate / 1e12:.2f} T/s" for name, rate in result["ceilings"].items()]
    selftest = result["selftest"]
    text += table(["machine", ""], [
        ["GPU", ", ".join(filter(None, [result["gpu"], machine["memory"], machine["driver"] and f"driver {machine['driver']}"]))],
        ["measured in this run", ", ".join(rates) or EMPTY],
        ["floors are of", result["floor_device"]],
        ["Hybrid", f"{result['compiler']}, target {result['target']}, commit {result['commit'][:10]}"],
        ["self-test", selftest["summary"] if selftest else "not run"],
        ["date", f"{result['date']}, `{result['command']}`, {result['seconds'] / 60:.1f} minutes, {result['rounds']} turns of each side"],
    ])
    text += steps(result["mad_step"], "A training step of the MAD models")
    text += summary_lines(result["summary"], [f"{dtype}_{mode}" for dtype in ("bf16", "f32") for mode in MODES])
    text += ops(result["op"]) + steps(result["lm_step"], "A training step of language models of 125 million parameters")
    if result["failures"]:
        text += "\n## Failures\n\n" + "\n".join(f"- {failure.splitlines()[0]}" for failure in result["failures"]) + "\n"
    if result["left_out"]:
        text += "\n## Left out for time\n\n" + ", ".join(result["left_out"]) + "\n"
    return text
