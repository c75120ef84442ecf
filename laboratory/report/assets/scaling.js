// The page of fitted scaling laws: parabolas at equal FLOPs, frontiers with their bands, every coefficient and every point.

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
  const said = data.groups.flatMap((group) => group.warnings.map((each) => `${nameOf(group)}${isNumber(each.budget) ? ", " + flops(each.budget) : ""}: ${each.refused ? "refused: " : ""}${each.text}`));
  const hasFit = coefficients.length > 0;

  show("Scaling laws", [facts([["groups", String(data.groups.length)], ["trainings", String(data.groups.reduce((sum, group) => sum + group.points, 0))], ["seed", String(data.bootstrap.seed)]])], [
    said.length ? section("warnings", "What the points do not show", warnings(said)) : null,
    section("budgets", "Equal FLOPs", legend(budgets), h("div", { class: "grid-of pair" }, data.groups.map(isoFlop)), note("Marks are trainings; a line is the parabola of its budget. A budget that was refused has none.")),
    fitted.length ? section("frontiers", "Frontiers", legend(fitted.map(([i, group]) => [i, nameOf(group)])), h("div", { class: "grid-of pair" }, [frontier("loss", "loss, nats"), frontier("params", "parameters", "logarithmic")]),
      note("Marks are the minima of the parabolas; lines are power laws through them, dotted lines the ends of their intervals.")) : null,
    hasFit ? section("coefficients", "Coefficients", table({ name: "Coefficients", columns: [{ text: "Group" }, { text: "Coefficient" }, ...["Value", "Low", "High"].map((text) => ({ text, number: true }))],
      rows: coefficients.map(([i, name, estimate]) => ({ series: i, cells: [groupCell(i), { text: name }, of(estimate, "value"), of(estimate, "low"), of(estimate, "high")] })) })) : null,
    section("points", "Every training", details("The table", table({ name: "Every training", columns: [{ text: "Group" }, ...["FLOPs", "Parameters", "Tokens", "Loss"].map((text) => ({ text, number: true }))],
      rows: data.groups.flatMap((group, i) => group.table.map((row) => ({ series: i, cells: [groupCell(i), ...row.map((value) => number(value, digits(value)))] }))) })))],
  h("p", {}, "As hybrid-run scale fit prints it with --json; docs/book/scaling.md says how it is fitted."));
}
