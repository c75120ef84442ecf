// The pages of scaling laws. Of a fit: parabolas at equal FLOPs, frontiers with their bands, every coefficient and every point. Of a study that was
// trained here also its sweeps, its state frontier, what being off the optimum costs, and how each run went.

/// What a study has beside the fit. `groups`: the names of the fit's, by which lines have their colours.
function scalingStudy(digits, flops, groups) {
  const list = (key) => (Array.isArray(data[key]) ? data[key] : []);
  const place = (name) => { const at = groups.indexOf(name); return at < 0 ? groups.length : at; };
  const groupCell = (name) => ({ text: name, node: () => who(place(name), name) });
  const estimates = (each) => (each ? ["value", "low", "high"].map((key) => number(each[key], digits(each[key]))) : Array.from({ length: 3 }, () => number(null, dash)));
  const budgets = [...new Set(list("states").map((each) => each.budget))];

  // A sweep: what its rows have along the axes, and its table. Rows of one `series` are one line, `ends` those of its interval.
  const lowest = (each) => (each.loss ? each.loss.value : each.lowest_loss), numbers = (each, ...keys) => keys.map((key) => number(each[key], digits(each[key])));
  const sweeps = [
    { key: "ratios", title: "Share of attention", x: { title: "share of attention" }, y: "loss, nats", at: (each) => each.attention, value: lowest, series: (each) => each.group.replace(/ ratio=[^ ]*$/, ""),
      ends: (each, end) => (each.loss ? each.loss[end] : null), says: "Of each share the minimum over sizes; where its sizes show none, the lowest loss. Dotted lines are the ends of the intervals.",
      columns: ["Attention", "Best size", "low", "high", "Loss", "low", "high", "Lowest measured"], cells: (each) => [...numbers(each, "attention"), ...estimates(each.params), ...estimates(each.loss), ...numbers(each, "lowest_loss")] },
    { key: "overtrain", title: "Trained for longer", x: { title: "times smaller than the best", type: "logarithmic" }, y: "rise of the loss, nats", at: (each) => each.factor, value: (each) => each.rise, series: (each) => each.group,
      says: "Trainings of models that are smaller than the best of their budget and see as many more tokens: how far their loss lies above the parabola's minimum, or where there is none above the lowest loss.",
      columns: ["Times smaller", "Parameters", "Tokens", "Loss", "Rise", "By the parabola", "By the law"], cells: (each) => numbers(each, "factor", "params", "tokens", "loss", "rise", "by_parabola", "by_law") },
    { key: "batches", title: "Batch", x: { title: "tokens of a batch", type: "logarithmic" }, y: "loss, nats", at: (each) => each.batch_tokens, value: (each) => each.loss, series: (each) => each.group,
      says: "One size of each architecture, with the rate that the plan gives it.", columns: ["Parameters", "Batch", "Steps", "Rate", "Loss"], cells: (each) => numbers(each, "params", "batch_tokens", "steps", "learning_rate", "loss") }];
  const sweepFigure = (sweep, budget) => {
    const rows = list(sweep.key).filter((each) => each.budget === budget), series = [...new Set(rows.map(sweep.series))];
    const points = (name, of) => rows.filter((each) => sweep.series(each) === name).map((each) => ({ x: sweep.at(each), y: of(each) }));
    return figure({ title: flops(budget), height: 280, label: rows.map((each) => `${sweep.series(each)}: ${digits(sweep.value(each))} at ${digits(sweep.at(each))}`).join(". "),
      build: () => lineChart({ x: sweep.x, y: sweep.y, shares: false, fromZero: false, datasets: series.flatMap((name) => [line(place(name), name, points(name, sweep.value)),
        ...(sweep.ends ? ["low", "high"].map((end) => line(place(name), `${name}, ${end} end`, points(name, (each) => sweep.ends(each, end)), { reference: true })) : [])]) }) });
  };

  const names = [...new Set(list("states").map((each) => each.group))];
  const stateFigure = (budget) => figure({ title: flops(budget), height: 280,
    label: list("states").filter((each) => each.budget === budget && each.on_total).map((each) => `${each.group} ${each.size}: loss ${digits(each.loss)} with a state of ${each.total}`).join(". "),
    build: () => lineChart({ x: { title: "state, numbers", type: "logarithmic" }, y: "loss, nats", shares: false, fromZero: false,
      datasets: names.map((name) => ({ ...line(place(name), name, list("states").filter((each) => each.budget === budget && each.group === name && each.total > 0).map((each) => ({ x: each.total, y: each.loss }))), showLine: false })) }) });

  const rows = (key, of) => list(key).map((each) => ({ series: place(each.group), cells: [groupCell(each.group), number(each.budget, flops(each.budget)), ...of(each)] }));
  const head = (...columns) => [{ text: "Group" }, { text: "Budget", number: true }, ...columns.map((text) => ({ text, number: true }))];
  const mark = (is) => ({ text: is ? "on it" : "" });
  return [
    ...sweeps.filter((sweep) => list(sweep.key).length).map((sweep) => section(sweep.key, sweep.title, legend([...new Set(list(sweep.key).map(sweep.series))].map((name) => [place(name), name])),
      h("div", { class: "grid-of pair" }, [...new Set(list(sweep.key).map((each) => each.budget))].map((budget) => sweepFigure(sweep, budget))), note(sweep.says),
      table({ name: sweep.title, columns: [...head(...sweep.columns), { text: "Size" }], rows: rows(sweep.key, (each) => [...sweep.cells(each), { text: each.size || dash }]) }))),
    budgets.length ? section("state", "State", legend(names.map((name) => [place(name), name])), h("div", { class: "grid-of pair" }, budgets.map(stateFigure)),
      note("Numbers that a sequence leaves behind for its next token, at the length of the study, as the compiler counts them: fixed ones and those that grow with it."),
      details("Every state", table({ name: "Every state", columns: [...head("Loss", "Fixed", "Growing", "Total"), { text: "Size" }, ...["fixed", "growing", "total"].map((text) => ({ text: `Frontier, ${text}` }))],
        rows: rows("states", (each) => [...["loss", "fixed", "dynamic", "total"].map((key) => number(each[key], digits(each[key]))), { text: each.size }, mark(each.on_fixed), mark(each.on_dynamic), mark(each.on_total)]) }))) : null,
    list("off_optimal").length ? section("off-optimal", "Smaller than the best", note("What the loss rises by at equal FLOPs where a model is so many times smaller and sees as many more tokens. The parabola says it where a size so small was trained."),
      table({ name: "Smaller than the best", columns: head("Times", "By the parabola", "By the law", "low", "high"),
        rows: rows("off_optimal", (each) => [number(each.factor, digits(each.factor)), number(each.by_parabola, digits(each.by_parabola)), ...estimates(each.by_law)]) })) : null,
    list("runs").length ? section("runs", "Every run", details("How each went", table({ name: "Every run", columns: [...head("Tokens", "Batch", "Steps", "Rate", "Seconds", "Loss"), { text: "Size" }, { text: "Status" }],
      rows: rows("runs", (each) => [...["tokens", "batch", "steps", "learning_rate", "seconds", "loss"].map((key) => number(each[key], digits(each[key]))), { text: each.size },
        { text: each.error || (each.retried ? "done, with half the rate" : each.status), class: "text" }]) }))) : null,
    typeof data.command === "string" ? section("reproduce", "Do it again", command(data.command)) : null];
}

function scalingReport() {
  const digits = (value) => (isNumber(value) ? String(Number(value.toPrecision(4))) : dash);
  const nameOf = (group) => group.group || "all trainings";
  const names = data.groups.map((group, i) => [i, nameOf(group)]);
  const flops = (value) => value.toExponential(1).replace("e+", " × 10^").replace(".0", "") + " FLOPs";

  const isoFlop = (group) => figure({ title: nameOf(group), height: 280,
    label: `${nameOf(group)}: loss against parameters. ` + group.budgets.map((each) => `${flops(each.flops)}: ${each.refused ? "refused, " + each.refused : `lowest loss ${digits(each.loss.value)} at ${digits(each.params.value)} parameters`}`).join(". "),
    build: () => lineChart({ x: { title: "parameters", type: "logarithmic" }, y: "loss, nats", shares: false, fromZero: false,
      datasets: group.curves.flatMap((curve, i) => [{ ...line(i, flops(curve.flops), curve.points), showLine: false }, line(i, flops(curve.flops), curve.parabola, { marked: () => false })]) }) });
  const budgets = [...new Map(data.groups.flatMap((group) => group.curves.map((curve, i) => [i, flops(curve.flops)])))].sort((a, b) => a[0] - b[0]);

  const fitted = data.groups.map((group, i) => [i, group]).filter(([, group]) => group.frontier_curves);
  const frontier = (key, title, type) => figure({ title, height: 280,
    label: `${title} against FLOPs. ` + fitted.map(([, group]) => `${nameOf(group)}: exponent ${digits(group.frontier[key].exponent.value)}`).join(". "),
    build: () => lineChart({ x: { title: "FLOPs", type: "logarithmic", format: (value) => Number(value).toExponential().replace("+", "") }, y: title, yType: type, shares: false, fromZero: false,
      datasets: fitted.flatMap(([i, group]) => {
        const curve = group.frontier_curves[key], minima = group.budgets.filter((each) => !each.refused).map((each) => ({ x: each.flops, y: each[key].value }));
        const edge = (end) => line(i, `${nameOf(group)}, ${end} end`, curve.map((each) => ({ x: each.x, y: each[end] })), { reference: true });
        return [{ ...line(i, nameOf(group), minima), showLine: false }, line(i, nameOf(group), curve, { marked: () => false }), edge("low"), edge("high")];
      }) }) });

  const coefficients = data.groups.flatMap((group, i) => [
    ...(group.frontier ? ["params", "tokens", "loss"].flatMap((law) => ["coefficient", "exponent"].map((each) => [i, `${law} ${each}`, group.frontier[law][each]])) : []),
    ...(group.parametric ? Object.entries(group.parametric).filter(([, value]) => value !== null && typeof value === "object").map(([name, value]) => [i, name, value]) : [])]);
  const of = (estimate, key) => number(estimate[key], digits(estimate[key]));
  const groupCell = (i) => ({ text: names[i][1], node: () => who(i, names[i][1]) });
  const said = [...(Array.isArray(data.remarks) ? data.remarks : []), ...data.groups.flatMap((group) => group.warnings.map((each) => `${nameOf(group)}${isNumber(each.budget) ? ", " + flops(each.budget) : ""}: ${each.refused ? "refused: " : ""}${each.text}`))];
  const hasFit = coefficients.length > 0;

  show("Scaling laws", [facts([["groups", String(data.groups.length)], ["trainings", String(data.groups.reduce((sum, group) => sum + group.points, 0))], ["seed", String(data.bootstrap.seed)]])], [
    said.length ? section("warnings", "What the points do not show", warnings(said)) : null,
    section("budgets", "Equal FLOPs", legend(budgets), h("div", { class: "grid-of pair" }, data.groups.map(isoFlop)), note("Marks are trainings; a line is the parabola of its budget. A budget that was refused has none.")),
    fitted.length ? section("frontiers", "Frontiers", legend(fitted.map(([i, group]) => [i, nameOf(group)])), h("div", { class: "grid-of pair" }, [frontier("loss", "loss, nats"), frontier("params", "parameters", "logarithmic")]),
      note("Marks are the minima of the parabolas; lines are power laws through them, dotted lines the ends of their intervals.")) : null,
    hasFit ? section("coefficients", "Coefficients", table({ name: "Coefficients", columns: [{ text: "Group" }, { text: "Coefficient" }, ...["Value", "Low", "High"].map((text) => ({ text, number: true }))],
      rows: coefficients.map(([i, name, estimate]) => ({ series: i, cells: [groupCell(i), { text: name }, of(estimate, "value"), of(estimate, "low"), of(estimate, "high")] })) })) : null,
    ...scalingStudy(digits, flops, data.groups.map(nameOf)),
    section("points", "Every training", details("The table", table({ name: "Every training", columns: [{ text: "Group" }, ...["FLOPs", "Parameters", "Tokens", "Loss"].map((text) => ({ text, number: true }))],
      rows: data.groups.flatMap((group, i) => group.table.map((row) => ({ series: i, cells: [groupCell(i), ...row.map((value) => number(value, digits(value)))] }))) })))],
  h("p", {}, "As hybrid-run scale prints it with --json; docs/book/scaling.md says how it is fitted."));
}

/// Scores of synthetic tasks beside perplexities at the best size of each budget.
function correlationReport() {
  const digits = (value) => (isNumber(value) ? String(Number(value.toPrecision(4))) : dash);
  const flops = (value) => value.toExponential(1).replace("e+", " × 10^").replace(".0", "") + " FLOPs";
  const names = [...new Set(data.correlations.flatMap((each) => each.points.map((point) => point.group)))], taskOf = (each) => each.task || "all tasks";
  const drawn = data.correlations.filter((each) => !each.task && each.measure === "accuracy");
  const scatter = (each) => figure({ title: flops(each.flops), height: 280, label: each.points.map((point) => `${point.group}: score ${digits(100 * point.score)} %, perplexity ${digits(point.perplexity)}`).join(". "),
    build: () => lineChart({ x: { title: "mean score of the tasks, %" }, y: "perplexity", shares: false, fromZero: false,
      datasets: each.points.map((point) => line(names.indexOf(point.group), point.group, [{ x: 100 * point.score, y: point.perplexity }])) }) });
  const estimate = (each) => ["value", "low", "high"].map((key) => number(each[key], digits(each[key])));
  show("Scaling laws", [facts([["architectures", String(names.length)], ["budgets", String(drawn.length)]])], [
    section("scores", "Scores and perplexity", legend(names.map((name, i) => [i, name])), h("div", { class: "grid-of pair" }, drawn.map(scatter)),
      note("Each mark is an architecture: its mean accuracy on the synthetic tasks, and the perplexity of its best size at the budget.")),
    section("correlations", "Correlations", table({ name: "Correlations", columns: [{ text: "Task" }, { text: "By" }, ...["Budget", "Linear", "low", "high", "Rank", "low", "high"].map((text) => ({ text, number: true }))],
      rows: data.correlations.map((each) => ({ cells: [{ text: taskOf(each) }, { text: each.measure }, number(each.flops, flops(each.flops)), ...estimate(each.linear), ...estimate(each.rank)] })) }),
      note("Below zero by accuracy and above it by loss is what a score that predicts perplexity has. Three architectures have no intervals."))],
  h("p", {}, "As hybrid-run scale join prints it with --json; docs/book/scaling.md says what it means."));
}
