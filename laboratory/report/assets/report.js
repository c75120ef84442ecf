// The kinds of reports: a study, two studies side by side, a training, a recipe of a paper; scaling laws are in scaling.js. Each draws its data, section by section.

const byScore = (a, b) => (isNumber(b) ? b : -1) - (isNumber(a) ? a : -1);
const settingsText = (settings) => Object.entries(settings || {}).map(([name, value]) => ` --set ${name}=${value}`).join("");

function studyReport() {
  const macro = data.scored_by === "mad_accuracy";
  const kindOf = macro ? "Macro" : "Micro";
  const places = new Map(data.architectures.map((each, i) => [each.architecture, i]));
  const ranking = data.verdict.standing.map((each) => places.get(each.architecture));
  const standing = new Map(data.verdict.standing.map((each) => [each.architecture, each]));
  const nameOf = (i) => data.architectures[i].architecture;
  const taskOf = (i, task) => data.architectures[i].tasks[task.name];
  const scored = (both) => (both ? both[data.scored_by] : null);
  const overall = (i) => standing.get(nameOf(i)).score;
  const baselineKey = "baseline_" + data.scored_by;
  // Every setting once, with the scores of the architectures that have it.
  const settings = [];
  for (const task of data.tasks) {
    const seen = new Map();
    data.architectures.forEach((architecture, i) => {
      for (const each of architecture.tasks[task.name]?.settings || []) {
        if (!seen.has(each.setting)) {
          seen.set(each.setting, { task, setting: each.setting, title: each.title, axis: each.axis, value: each.value, chance: each.chance, scores: [] });
          settings.push(seen.get(each.setting));
        }
        seen.get(each.setting).scores[i] = each;
      }
    });
  }
  const sweeps = settings.some((each) => each.axis !== "baseline");
  const names = ranking.map((i) => [i, nameOf(i)]);
  const nameCell = (i) => ({ text: nameOf(i), node: () => who(i, nameOf(i)) });

  function verdict() {
    if (!ranking.length || !data.tasks.length) return null;
    const rows = ranking.map((i) => {
      const each = standing.get(nameOf(i)), scores = data.architectures[i];
      return { series: i, name: nameOf(i), value: each.score, interval: isNumber(each.score) ? [each.low, each.high] : null, mark: sweeps ? scores[baselineKey] : null };
    });
    const interval = data.verdict.standing.some((each) => each.assumed) ? "1.5 points to either side, assumed: there is one seed" : "95 % intervals from the scatter between seeds";
    return h("section", { id: "verdict", "aria-label": "Verdict" }, figure({ title: "Overall score", height: 26 * rows.length + 40,
      label: "Overall score: " + rows.map((row) => `${row.name} ${percent(row.value)} %`).join(", "), build: () => barChart(rows, { markTitle: "baseline settings alone" }) }),
      note(`${kindOf} accuracy, mean of ${counted(data.tasks.length, "task")}${sweeps ? ", each the mean of its settings; the upright mark is the score on the baseline settings alone" : " at the baseline setting"}. Lines are intervals: ${interval}. Intervals that overlap are a tie.`));
  }

  function scoreTable(name, overallOf, ofTask) {
    const columns = [{ text: "Architecture" }], groups = [{ text: "", span: 1 }, { text: "Overall", span: 2 }];
    const values = [];
    const both = (key) => [(i) => overallOf(i)[key("accuracy")], (i) => overallOf(i)[key("mad_accuracy")]];
    values.push(...both((name) => name));
    for (const task of data.tasks) {
      groups.push({ text: task.word, span: 2, title: task.name });
      values.push((i) => ofTask(i, task).accuracy, (i) => ofTask(i, task).mad_accuracy);
    }
    values.forEach((_, i) => columns.push({ text: i % 2 ? "macro" : "micro", number: true, first: i % 2 === 0, sorted: i === (macro ? 1 : 0) }));
    groups.push({ text: "", span: 1 });
    columns.push({ text: "Runs", number: true, first: true });
    const best = values.map((value) => Math.max(...ranking.map((i) => (isNumber(value(i)) ? value(i) : -1))));
    const rows = ranking.map((i) => {
      const counts = data.architectures[i].counts;
      const runs = `${counts.done}${counts.open ? " of " + counts.runs : ""}${counts.failed + counts.diverged ? ` +${counts.failed + counts.diverged} ✗` : ""}`;
      return { series: i, cells: [nameCell(i), ...values.map((value, k) => share(value(i), { best: isNumber(value(i)) && percent(value(i)) === percent(best[k]) })),
        number(counts.done, runs, { title: counts.failed + counts.diverged ? "✗ failed or diverged" : undefined })] };
    });
    return table({ name, caption: name, groups, columns, rows });
  }
  function scores() {
    if (!data.tasks.length || !ranking.length) return null;
    const nothing = { accuracy: null, mad_accuracy: null };
    const all = scoreTable(sweeps ? "Mean over all settings of a task" : "Baseline setting of each task", (i) => (isNumber(overall(i)) ? data.architectures[i] : nothing), (i, task) => taskOf(i, task) || nothing);
    const baseline = (each) => ({ accuracy: each?.baseline_accuracy ?? null, mad_accuracy: each?.baseline_mad_accuracy ?? null });
    const text = h("p", {}, "Accuracy in percent, best run of the grid. ", h("em", {}, "Micro"), " counts every scored token alike; ", h("em", {}, "macro"),
      ` is MAD's mean over classes within a batch. The ${data.convention} convention scores by ${macro ? "macro" : "micro"}. The largest of a column is bold.`);
    return section("scores", "Scores", text, sweeps ? tabs("Settings counted", [["All settings", all],
      ["Baseline only", scoreTable("Baseline setting of each task alone", (i) => baseline(data.architectures[i]), (i, task) => baseline(taskOf(i, task)))]]) : all);
  }

  function profile() {
    if (!data.tasks.length || !ranking.length) return null;
    const bars = data.tasks.map((task) => {
      const chance = settings.find((each) => each.task === task && each.axis === "baseline")?.chance;
      const rows = [...ranking].sort((a, b) => byScore(scored(taskOf(a, task)), scored(taskOf(b, task))))
        .map((i) => ({ series: i, name: nameOf(i), value: scored(taskOf(i, task)), mark: chance > 0 ? chance : null }));
      return figure({ title: task.title, height: 20 * rows.length + 36, label: `${task.title}: ` + rows.map((row) => `${row.name} ${percent(row.value)} %`).join(", "),
        build: () => barChart(rows, { dotted: true, markTitle: "guessing" }) });
    });
    let radars = null;
    if (data.tasks.length >= 3) { // a radar needs three spokes to be a shape
      const best = data.tasks.map((task) => Math.max(...ranking.map((i) => scored(taskOf(i, task)) ?? 0)));
      radars = [h("h3", {}, "Profiles"), note("The dashed shape is the best of all architectures on each task."), h("div", { class: "grid-of radars" }, ranking.map((i) => {
        const values = data.tasks.map((task) => scored(taskOf(i, task)));
        const shape = (label, series, list, more) => ({ label, series, data: list, borderColor: ofData, pointRadius: 2.5, pointBackgroundColor: ofData, borderWidth: 1.8, ...more });
        return figure({ title: nameOf(i), height: 200, label: nameOf(i) + ": " + data.tasks.map((task, k) => `${task.word} ${percent(values[k])} %`).join(", "), build: () => ({
          type: "radar", data: { labels: data.tasks.map((task) => task.word), datasets: [
            shape(nameOf(i), i, values, { backgroundColor: (context) => ofData(context).slice(0, 7) + "33" }),
            ...(ranking.length > 1 ? [shape("best of all", undefined, best, { borderDash: [2, 2], borderWidth: 1, pointRadius: 0, fill: false })] : [])] },
          options: { scales: { r: { min: 0, max: 1, ticks: { display: false, stepSize: 0.25 }, grid: { color: () => colours.rule }, angleLines: { color: () => colours.rule },
            pointLabels: { color: () => colours.soft, font: { size: 10 } } } }, plugins: { tooltip: tip((item) => item.label, (item) => `${item.dataset.label}: ${percent(item.parsed.r)} %`) } } }) });
      }))];
    }
    return section("profile", "Strengths and weaknesses", h("p", {}, `${kindOf} accuracy by task. Dotted: guessing among the legal answers.`), legend(names),
      h("div", { class: "grid-of by-task" }, bars), radars);
  }

  const axisTitle = (axis) => ({ vocab: "vocabulary", length: "sequence length", train_examples: "training examples", frac_noise: "share of noise" })[axis] || axis.replaceAll("_", " ");
  const valueIn = (setting, name) => {
    const found = setting.split(/[:;,]/).map((item) => item.split("=")).find(([word, value]) => word === name && value !== undefined && value !== "" && isNumber(Number(value)));
    return found && Number(found[1]);
  };
  function difficulty() {
    const parts = data.tasks.map((task) => {
      const members = settings.filter((each) => each.task === task), baseline = members.find((each) => each.axis === "baseline");
      const axes = [...new Set(members.filter((each) => each !== baseline && each.axis !== "baseline").map((each) => each.axis))];
      if (!axes.length) return null;
      return h("div", { class: "task" }, h("h3", {}, task.title), h("div", { class: "grid-of" }, axes.map((axis) => {
        const places = members.filter((each) => each.axis === axis).map((each) => [each.value, each]);
        const start = baseline && valueIn(baseline.setting, axis);
        if (start !== undefined && start !== false && start !== null) places.push([start, baseline]);
        places.sort((a, b) => a[0] - b[0]);
        const at = places.map(([value]) => value), falling = axis === "train_examples";
        const label = `${task.title}: accuracy against ${axisTitle(axis)}. ` + ranking.map((i) => `${nameOf(i)}: ${percent(scored(places[0][1].scores[i]))} to ${percent(scored(places.at(-1)[1].scores[i]))} %`).join(". ");
        return figure({ label, title: axisTitle(axis), height: 210, build: () => lineChart({
          datasets: [...ranking.map((i) => line(i, nameOf(i), places.map(([x, each]) => ({ x, y: scored(each.scores[i]) ?? null, score: each.scores[i] })))),
            line(undefined, "guessing among the legal answers", places.map(([x, each]) => ({ x, y: each.chance > 0 ? each.chance : null })), { reference: true })],
          x: { title: axisTitle(axis) + (falling ? ", falling" : ""), type: at[0] >= 1 && at.at(-1) / at[0] > 3 ? "logarithmic" : "linear", ticks: at, reverse: falling }, y: "accuracy, %",
          label: (item) => {
            const score = item.raw.score, deviation = score && score[macro ? "mad_deviation" : "deviation"];
            return [`${axisTitle(axis)} ${item.parsed.x}: ${percent(item.parsed.y)} %${isNumber(deviation) ? ` ± ${percent(deviation)}` : ""}`, score && `learning rate ${plain(score.lr)}, weight decay ${plain(score.weight_decay)}`].filter(Boolean);
          } }) });
      })));
    }).filter(Boolean);
    return parts.length ? section("difficulty", "As a task gets harder", h("p", {}, "One thing at a time differs from the baseline, which is the first point of each line. Each point is the best run of its grid. Dotted: guessing among the legal answers."), legend(names), parts) : null;
  }

  function curves() {
    const there = settings.filter((each) => each.scores.some((score) => score?.curve?.step.length));
    if (!there.length) return null;
    const build = (each, loss) => () => {
      const datasets = ranking.filter((i) => each.scores[i]?.curve?.step.length).map((i) => {
        const { curve, best_step } = each.scores[i], ys = loss ? curve.loss : curve[data.scored_by];
        return line(i, nameOf(i), curve.step.map((x, k) => ({ x, y: ys[k] })), { marked: (point) => point.x === best_step });
      });
      const last = Math.max(...datasets.flatMap((set) => set.data.map((point) => point.x)));
      if (!loss && each.chance > 0) datasets.push(line(undefined, "guessing among the legal answers", [{ x: 0, y: each.chance }, { x: last, y: each.chance }], { reference: true }));
      return lineChart({ datasets, x: { title: "step" }, y: loss ? "loss, nats" : "accuracy, %", shares: !loss, descends: loss });
    };
    const pair = (each) => {
      const title = `${each.task.title}, ${each.title}`;
      return h("div", { class: "curve", id: "curve-" + settings.indexOf(each) }, h("h3", {}, title), h("p", { class: "soft" }, h("code", {}, each.setting)),
        h("div", { class: "grid-of pair" }, [false, true].map((loss) => figure({ title: `${loss ? "Loss" : "Accuracy"} against steps`, height: 260, label: `${title}: ${loss ? "loss" : "accuracy"} of evaluations against steps. ` +
          ranking.map((i) => each.scores[i]?.best_step ? `${nameOf(i)}: ${loss ? fixed(each.scores[i].best_loss, 3) : percent(scored(each.scores[i])) + " %"} at step ${each.scores[i].best_step}` : "").filter(Boolean).join(", "), build: build(each, loss) }))));
    };
    const others = h("div"), baselines = there.filter((each) => each.axis === "baseline");
    const more = there.filter((each) => each.axis !== "baseline");
    const select = more.length ? h("p", { class: "controls" }, h("label", { for: "curve-choice" }, "Another setting "), h("select", { id: "curve-choice", onchange: (event) => {
      const before = figures.length;
      others.replaceChildren(...(event.target.value ? [pair(settings[event.target.value])] : []));
      for (const each of figures.splice(before - (others.drawn || 0), others.drawn || 0)) each.chart.destroy();
      const fresh = figures.slice(before - (others.drawn || 0));
      for (const each of fresh) each.start();
      others.drawn = fresh.length;
    } }, h("option", { value: "" }, "none"), data.tasks.map((task) => h("optgroup", { label: task.title }, more.filter((each) => each.task === task).map((each) => h("option", { value: settings.indexOf(each) }, `${task.title}: ${each.title}`)))))) : null;
    return section("curves", "Learning curves", h("p", {}, "Evaluations of the best run of each architecture on a setting, over all test instances. The marker is the checkpoint that counts."),
      legend(names), baselines.map(pair), select, others);
  }

  function cost() {
    if (!ranking.length) return null;
    const rows = ranking.map((i) => {
      const each = data.architectures[i];
      return { series: i, cells: [nameCell(i), number(overall(i), percent(overall(i))), number(each.cost.parameters, grouped(each.cost.parameters)), number(each.cost.flops_per_token, compact(each.cost.flops_per_token)),
        ...[each.cost.state_elements, each.cost.counted_state_elements].map((state) => number(state, isNumber(state) ? grouped(state) : "unknown")), number(each.counts.seconds, duration(each.counts.seconds))] };
    });
    const against = (title, of) => {
      const shown = ranking.filter((i) => isNumber(overall(i)) && of(data.architectures[i].cost) > 0);
      if (shown.length < 2) return null;
      const place = (i) => ({ x: of(data.architectures[i].cost), y: overall(i) });
      // A page in several sizes is a line.
      const pages = [...new Set(shown.map((i) => data.architectures[i].path))].map((path) => shown.filter((i) => data.architectures[i].path === path)).filter((sizes) => sizes.length > 1);
      const lines = () => pages.map((sizes) => ({ ...line(sizes[0], data.architectures[sizes[0]].path, sizes.map(place).sort((a, b) => a.x - b.x), { reference: true }), showLine: true }));
      return figure({ title: `Score against ${title}`, height: 260, label: `Overall score against ${title}. ` + shown.map((i) => `${nameOf(i)}: ${percent(overall(i))} %, ${compact(of(data.architectures[i].cost))} ${title}`).join(". "), build: () => ({
        type: "scatter", data: { datasets: [...shown.map((i) => ({ ...line(i, nameOf(i), [place(i)]), pointRadius: 6 })), ...lines()] },
        options: { scales: { x: scale(title, { type: "logarithmic", grace: "10%", afterBuildTicks: spreadTicks, ticks: { color: () => colours.soft, callback: compact, maxRotation: 0, autoSkip: false } }),
          y: scale("overall score, %", { grace: "10%", ticks: { color: () => colours.soft, callback: (value) => Number((value * 100).toFixed(1)) } }) },
          plugins: { tooltip: tip((item) => item.dataset.label, (item) => `${percent(item.parsed.y)} %, ${compact(item.parsed.x)} ${title}`) } } }) });
    };
    const charts = [against("FLOPs a token", (each) => each.flops_per_token), against("state elements as MAD counts", (each) => each.counted_state_elements)].filter(Boolean);
    return section("cost", "What it costs", h("p", {}, "Parameters, FLOPs of a token forward and elements of state as they are at the first setting of the study. State counts what a sequence leaves behind for its next token: the fixed part, and what grows, at the length of the task; beside it the state that MAD counts, which gives a free-form filter that of its order."),
      table({ name: "Costs", columns: [{ text: "Architecture" }, ...["Score, %", "Parameters", "FLOPs a token", "State", "As MAD counts", "Time of all runs"].map((text) => ({ text, number: true }))], rows }),
      charts.length ? [legend(names), h("div", { class: "grid-of pair" }, charts)] : null);
  }

  function choices() {
    if (!settings.length || !ranking.length) return null;
    const grid = data.grid.filter(([rate, decay]) => isNumber(rate) && isNumber(decay));
    const wins = (i, [rate, decay]) => settings.filter((each) => each.scores[i]?.best_run && each.scores[i].lr === rate && each.scores[i].weight_decay === decay).length;
    const rows = ranking.map((i) => {
      const all = settings.filter((each) => each.scores[i]?.best_run).length;
      return { series: i, cells: [nameCell(i), ...grid.map((point) => number(wins(i, point), String(wins(i, point)), { heat: all ? wins(i, point) / all : 0 }))] };
    });
    const every = settings.flatMap((each) => ranking.filter((i) => each.scores[i]).map((i) => {
      const score = each.scores[i];
      return { series: i, cells: [{ text: nameOf(i) }, { text: each.task.word, title: each.task.name }, { text: each.title, title: each.setting }, number(score.accuracy, percent(score.accuracy)), number(score.mad_accuracy, percent(score.mad_accuracy)),
        number(score[macro ? "mad_deviation" : "deviation"], percent(score[macro ? "mad_deviation" : "deviation"])), number(score.lr, plain(score.lr)), number(score.weight_decay, plain(score.weight_decay)), number(score.best_step, grouped(score.best_step)),
        number(score.done, score.done === score.runs ? String(score.done) : `${score.done} of ${score.runs}`), number(score.seconds, duration(score.seconds))] };
    }));
    return section("choices", "Which runs count", h("p", {}, "Every setting is trained at every point of a grid of learning rate and weight decay; the point with the best accuracy counts."),
      grid.length ? table({ name: "In how many settings a learning rate (lr) and weight decay (wd) were the best", caption: "In how many settings a learning rate (lr) and weight decay (wd) were the best",
        columns: [{ text: "Architecture" }, ...grid.map(([rate, decay]) => ({ text: `lr ${plain(rate)}, wd ${plain(decay)}`, number: true }))], rows }) : null,
      details("Every setting of every architecture", table({ name: "Every setting", columns: [{ text: "Architecture" }, { text: "Task" }, { text: "Setting" },
        ...["Micro", "Macro", "±", "Learning rate", "Weight decay", "Best step", "Runs", "Time of the best"].map((text) => ({ text, number: true }))], rows: every })));
  }

  function problems() {
    const list = [], counts = data.counts;
    if (counts.open) list.push(`${grouped(counts.open)} of ${counted(counts.runs, "run")} not done yet: scores so far are means over what is there, and not comparable between architectures.`);
    const each = settings.flatMap((setting) => setting.scores.filter(Boolean)), without = each.filter((score) => !score.best_run).length;
    if (without && counts.done) list.push(`${without} of ${each.length} settings have no score and are left out of the means.`);
    for (const failure of data.failures.slice(0, 50))
      list.push([`${counted(failure.runs, "run")} ${failure.diverged ? "diverged and score as guessing does" : "failed"}: `, h("code", {}, failure.error || "no message"), h("br"),
        h("span", { class: "soft" }, `${failure.architecture} ${failure.setting}, learning rate ${plain(failure.lr)}, weight decay ${plain(failure.weight_decay)}, seed ${failure.seed}`)]);
    if (data.failures.length > 50) list.push(`and ${data.failures.length - 50} other messages`);
    for (const [what, limit, of] of [["parameters", 1.25, (one) => one.cost.parameters], ["state as MAD counts it", 1.5, (one) => one.cost.counted_state_elements]]) {
      const sizes = data.architectures.filter((one) => of(one) > 0).sort((a, b) => of(a) - of(b));
      if (sizes.length > 1 && of(sizes.at(-1)) > limit * of(sizes[0]))
        list.push(`The architectures are unlike in ${what}: ${sizes[0].architecture} has ${grouped(of(sizes[0]))}, ${sizes.at(-1).architecture} has ${grouped(of(sizes.at(-1)))}.`);
    }
    for (const one of data.architectures) if (!isNumber(one.cost.counted_state_elements)) list.push(`The compiler cannot tell the state of ${one.architecture}.`);
    const rates = [...new Set(data.grid.map(([rate]) => rate).filter(isNumber))].sort((a, b) => a - b);
    if (rates.length > 1)
      for (const i of ranking) { // where everything is solved any rate will do
        const open = settings.map((setting) => setting.scores[i]).filter((score) => score?.best_run && score.accuracy <= 0.995);
        const low = open.filter((score) => score.lr === rates[0]).length, high = open.filter((score) => score.lr === rates.at(-1)).length;
        if (open.length >= 3 && Math.max(low, high) > 0.75 * open.length)
          list.push(`${nameOf(i)} did best at the ${high >= low ? "largest" : "smallest"} learning rate of the grid in ${Math.max(low, high)} of ${open.length} unsolved settings: a ${high >= low ? "larger" : "smaller"} one may do better still.`);
      }
    return list.length ? section("problems", "Failures and warnings", warnings(list)) : null;
  }

  function notes() {
    if (!data.tasks.length) return null;
    const list = ["Published MAD scores are macro accuracies: a mean over classes within each batch of 128, where one stray prediction of a token that is never an answer adds a class with accuracy 0. Compare them with the macro columns of a study under the mad-lab convention, and with nothing else.",
      "Published repetitions of one architecture differ by several points on a task: without repeated seeds, scores within 3 points of each other are called a tie. With them, a tie is where the 95 % intervals overlap.",
      macro ? "The test instances choose the checkpoint and the point of the grid, as in the released code of MAD; scores are a little too good for it, for every architecture alike."
        : "The weights at the end of training count. The test instances choose the point of the grid, and when a solved run may end; scores are a little too good for it, for every architecture alike."];
    if (data.tasks.some((task) => task.name === "memorization")) list.push("Memorization cannot reach 100 %: facts that training never shows can only be guessed, and the share of those grows with the vocabulary.");
    return section("notes", "How to read it", warnings(list));
  }

  const counts = data.counts;
  const runs = [`${grouped(counts.done)} done`, counts.diverged && `${grouped(counts.diverged)} diverged`, counts.failed && `${grouped(counts.failed)} failed`, counts.open && `${grouped(counts.open)} to do`].filter(Boolean).join(", ");
  const seedText = (most) => data.seeds.slice(0, most).join(", ") + (data.seeds.length > most ? ` and ${data.seeds.length - most} others` : "");
  const head = [facts([["convention", data.convention], ["suite", data.suite], ["architectures", grouped(data.architectures.length)], ["settings", grouped(settings.length)], ["runs", runs],
    [data.seeds.length > 1 ? "seeds" : "seed", seedText(4)], ["time of all runs", duration(counts.seconds)], ["version", data.version],
    ...data.verdict.overridden.map((each) => [`${each.name}, instead of ${each.usual}`, each.value])]),
    (counts.open > 0 || counts.failed > 0) && h("div", { class: "notice", role: "note" }, h("p", {}, counts.open > 0 ? "This study is not complete. " : "Some runs failed. ", h("a", { href: "#problems" }, "Details")))];
  show(`MAD laboratory, ${data.suite} suite`, head, [verdict(), scores(), profile(), difficulty(), curves(), cost(), choices(),
    ranking.length ? section("architectures", "Architectures", h("p", {}, "Each is a page of text: everything that was trained is in it and in the settings beside it."), ranking.map((i) => {
      const each = data.architectures[i];
      return source(who(i, nameOf(i)), each.path + settingsText(each.settings), each.source);
    })) : null,
    section("reproduce", "Do it again", h("p", {}, "The same command with the same version gives the same numbers; what it finds done it does not repeat."), command(data.command),
      facts([["version", data.version], ["convention", data.convention], ["suite", data.suite], ["seed of the study", String(data.seed)], [data.seeds.length === 1 ? "seed of the runs" : "seeds of the runs", seedText(20)], ...Object.entries(data.options)]),
      settings.length ? details("The settings of the suite", table({ name: "Settings", columns: [{ text: "Task" }, { text: "Setting" }, { text: "Specification" }, { text: "Guessing, %", number: true }],
        rows: settings.map((each) => ({ cells: [{ text: each.task.title }, { text: each.title }, { text: each.setting, class: "text", node: () => h("code", {}, each.setting) }, number(each.chance > 0 ? each.chance : null, each.chance > 0 ? percent(each.chance) : dash)] })) })) : null),
    problems(), notes()],
  h("p", {}, `Written by ${data.version || "Hybrid"}. Tasks and protocol: Poli et al. 2024, `, h("cite", {}, "Mechanistic Design and Scaling of Hybrid Architectures"), "."));
}

function comparisonReport() {
  const cells = ([a, b]) => {
    const change = isNumber(a) && isNumber(b) ? b - a : null;
    return [number(a, percent(a)), number(b, percent(b)), number(change, points(change), { class: change === null || percent(Math.abs(change)) === "0.0" ? "" : change > 0 ? "change-up" : "change-down" })];
  };
  const sides = (first) => ["A", "B", "B−A"].map((text, i) => ({ text, number: true, first: first && i === 0 }));
  const both = data.architectures.filter((row) => row.overall.every(isNumber));
  const bars = both.map((row) => ({ series: 0, name: row.architecture, value: row.overall[1], mark: row.overall[0], text: row.overall[1] - row.overall[0] }));
  const macro = data.measure.startsWith("macro") ? "Macro accuracy" : "Micro accuracy";
  show("MAD laboratory, two studies", [
    data.unlike.length ? h("div", { class: "notice", role: "alert" }, h("p", {}, h("strong", {}, "These studies are unlike.")), h("ul", {}, data.unlike.map((each) => h("li", {}, each)))) : null,
    facts(data.studies.map((study, i) => ["AB"[i], [study.name, h("br"), h("span", { class: "soft" }, `${study.convention} convention, ${study.suite} suite, ${study.version}`)]]))],
  [bars.length ? h("section", { id: "verdict", "aria-label": "Verdict" }, figure({ title: "Overall scores of both", height: 24 * bars.length + 40, label: "Overall: " + both.map((row) => `${row.architecture} ${percent(row.overall[0])} and ${percent(row.overall[1])} %`).join(", "),
    build: () => barChart(bars, { format: points, markTitle: "A" }) }), note("Bar: B. Upright mark: A. Number: by how many points B is above A.")) : null,
  data.architectures.length && data.tasks.length ? section("scores", "Scores", h("p", {}, `${macro} in percent, mean over the settings that both have done; of an architecture that one study lacks, over what the other has.`),
    table({ name: "Scores side by side", groups: [{ text: "", span: 1 }, { text: "Overall", span: 3 }, ...data.tasks.map((task) => ({ text: task.word, span: 3, title: task.name }))],
      columns: [{ text: "Architecture" }, ...[0, ...data.tasks].flatMap(() => sides(true))], rows: data.architectures.map((row) => ({ cells: [{ text: row.architecture, title: row.architecture }, ...cells(row.overall), ...row.tasks.flatMap(cells)] })) })) : null,
  data.settings.length ? section("settings", "Every setting", h("p", {}, "The largest difference first."), table({ name: "Settings side by side", columns: [{ text: "Architecture" }, { text: "Task" }, { text: "Setting" }, ...sides(false)],
    rows: data.settings.map((each) => ({ cells: [{ text: each.architecture }, { text: each.task }, { text: each.title, title: each.setting }, ...cells(each.score)] })) })) : null,
  data.differences.length ? section("problems", "What else differs", warnings(data.differences)) : null,
  section("reproduce", "Where they come from", h("p", {}, "The commands of both."), data.studies.map((study, i) => [h("h3", {}, "AB"[i]), command(study.command)]))],
  h("p", {}, "Differences of a few points between repetitions with other seeds are usual."));
}

function trainingReport() {
  const config = data.config || {}, summary = data.summary || {};
  const numberOf = (object, name) => (object && isNumber(object[name]) ? object[name] : null);
  const bytes = isNumber(summary.eval_bits_per_byte) || [data.train, data.eval].some((split) => (split.bits_per_byte || []).some(isNumber));
  const splits = [[1, "training", data.train], [0, "evaluation", data.eval]];
  const draw = (key, title, { evaluations = true, shares = false, factor = 1 } = {}) => {
    const shown = splits.filter(([series, , split]) => (evaluations || series === 1) && (split[key] || []).some(isNumber));
    if (!shown.length) return null;
    const datasets = () => shown.map(([series, name, split]) => line(series, name, split.step.map((x, i) => ({ x, y: isNumber(split[key][i]) && !split.final?.[i] ? split[key][i] * factor : null })).filter((point) => isNumber(point.x)),
      { marked: () => series === 0 && split.step.length <= 40 }));
    const last = ([, name, split]) => { const values = split[key].filter(isNumber); return `${name} ends at ${shares ? percent(values.at(-1)) + " %" : Number((values.at(-1) * factor).toPrecision(4))}`; };
    return figure({ title: title[0].toUpperCase() + title.slice(1), height: 260, label: `${title} against steps. ${shown.map(last).join(". ")}.`, build: () => lineChart({ datasets: datasets(), x: { title: "step" }, y: title, shares, descends: key === "loss" }) });
  };
  const charts = [draw("accuracy", "accuracy, %", { shares: true }), draw("loss", bytes ? "bits per byte" : "loss, nats", { factor: bytes ? 1 / Math.log(2) : 1 }), draw("lr", "learning rate", { evaluations: false }), draw("grad_norm", "norm of the gradient", { evaluations: false })].filter(Boolean);
  const list = data.eval.step || [];
  const at = (name, i) => (data.eval[name] ? data.eval[name][i] : null);
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const text = (value) => (typeof value === "string" ? value : "");
  const megabytes = numberOf(summary, "peak_bytes");
  show("Training run", [facts([["parameters", grouped(numberOf(config, "parameters"))], ["steps", grouped(numberOf(summary, "steps") ?? numberOf(config, "steps"))], ["batch", grouped(numberOf(config, "batch"))], ["length", grouped(numberOf(config, "length"))],
    ["learning rate", plain(config.lr)], ["weight decay", plain(config.weight_decay)], ["seed", plain(config.seed)], ["time of training", duration(numberOf(summary, "train_seconds"))],
    ["tokens a second", compact(summary.tokens_per_second)], ["peak memory", megabytes === null ? "" : `${Math.round(megabytes / 1e6)} MB`]])],
  [charts.length ? section("curves", "Learning curves", h("p", {}, "Training: means over the steps of a report. Evaluation: on test instances."), legend([[0, "evaluation"], [1, "training"]]), h("div", { class: "grid-of pair" }, charts)) : null,
  section("reproduce", "Do it again", text(config.command) ? command(config.command) : null, note([text(config.runtime), text(config.compiler)].filter(Boolean).join(", ")),
    list.length ? details("Every evaluation", table({ name: "Every evaluation", columns: ["Step", "Accuracy, micro, %", "Macro, %", "Loss", "Instances", "Time"].map((each) => ({ text: each, number: true })),
      rows: list.map((step, i) => ({ cells: [number(step, grouped(step) + (at("final", i) ? ", final" : "")), number(at("accuracy", i), percent(at("accuracy", i))), number(at("mad_accuracy", i), percent(at("mad_accuracy", i))), number(at("loss", i), fixed(at("loss", i), 4)),
        number(at("examples", i), compact(at("examples", i))), number(at("seconds", i), duration(at("seconds", i)))] })) })) : null,
    details("Every setting", table({ name: "Every setting", columns: [{ text: "Setting" }, { text: "Value" }], rows: Object.entries(config).filter(([name]) => name !== "model_source" && name !== "command")
      .map(([name, value]) => ({ cells: [{ text: name }, { text: shown(value), class: "text", node: () => h("code", {}, shown(value)) }] })) })),
    text(config.model_source) ? source("The model", text(config.model), config.model_source) : null)],
  h("p", {}, "From config.json, metrics.jsonl and summary.json of this folder."));
}

function paperReport() {
  const text = (value, i) => (isNumber(value) ? (Math.abs(value) >= 1000 ? grouped(value) : fixed(value, data.columns[i].digits)) : value || dash);
  // Recipes of trainings on data have no paper's numbers beside theirs.
  const isPrinted = data.rows.some((row) => row.cells.some((cell) => isNumber(cell.printed) || cell.printed));
  const cells = (row) => row.cells.flatMap(({ measured, printed }, i) =>
    [number(measured, text(measured, i)), ...(isPrinted ? [number(printed, text(printed, i), { class: "soft" })] : [])]);
  const both = (cell, i) => `${text(cell.measured, i)} at ${data.columns[i].name}` + (isPrinted ? `, printed ${text(cell.printed, i)}` : "");
  const names = data.rows.map((row, i) => [i, row.name]);
  const numeric = (name) => (/^2\^\d+$/.test(name) ? 2 ** Number(name.slice(2)) : Number(name));
  const at = data.columns.map((column) => numeric(column.name));
  // Columns that are numbers are places on an axis: filled lines are measured, dotted ones printed.
  const lines = at.length > 1 && at.every((value, i) => isNumber(value) && (i === 0 || value > at[i - 1]));
  const values = data.rows.flatMap((row) => row.cells.flatMap((cell) => [cell.measured, cell.printed])).filter(isNumber);
  const chart = lines && values.length ? figure({ title: `${data.items.join(", ")}: ${data.unit}`, height: 320,
    label: data.rows.map((row) => `${row.name}: ` + row.cells.map(both).join("; ")).join(". "),
    build: () => lineChart({ x: { title: "", type: at[0] > 0 && at.at(-1) / at[0] > 5 ? "logarithmic" : "linear", ticks: at }, y: data.unit, shares: false, descends: false,
      datasets: data.rows.flatMap((row, i) => [line(i, row.name, row.cells.map((cell, k) => ({ x: at[k], y: isNumber(cell.measured) ? cell.measured : null }))),
        ...(isPrinted ? [line(i, row.name + ", printed", row.cells.map((cell, k) => ({ x: at[k], y: isNumber(cell.printed) ? cell.printed : null })), { reference: true })] : [])]),
      label: (item) => `${data.columns[item.dataIndex].name}: ${text(item.parsed.y, item.dataIndex)}` }) }) : null;
  show(data.paper, [facts([["recipe", data.recipe], ["budget", data.budget], ["version", data.version]]), data.note && note(data.note)],
    [section("values", isPrinted ? "Measured and printed" : "Measured", table({ name: data.recipe,
      groups: isPrinted ? [{ text: "", span: 1 }, ...data.columns.map((column) => ({ text: column.name, span: 2, title: column.task }))] : null,
      columns: [{ text: data.unit }, ...data.columns.flatMap((column) => (isPrinted ? [{ text: "measured", number: true, first: true }, { text: "printed", number: true }]
        : [{ text: column.name, number: true, title: column.task }]))], rows: data.rows.map((row, i) => ({ series: i, cells: [{ text: row.name, node: () => who(i, row.name) }, ...cells(row)] })) }),
      chart && [legend(names), chart, isPrinted ? note("Dotted: printed.") : null]),
    data.checks.length ? section("checks", "What it is checked for", warnings(data.checks.map((check) => [h("strong", {}, check.holds ? "holds: " : "does not hold: "), check.text]))) : null,
    section("reproduce", "Do it again", command(data.command),
      table({ name: "Models", columns: [{ text: "Model" }, { text: "File" }, { text: "Settings" }], rows: data.rows.map((row) => ({ cells: [{ text: row.name }, { text: row.path }, { text: row.settings.join(" "), class: "text" }] })) }))],
    h("p", {}, "Recipes are files in papers/; `hybrid-run paper --list` shows what they measure."));
}

({ study: studyReport, comparison: comparisonReport, training: trainingReport, paper: paperReport, "scaling-fit": scalingReport, "scaling-study": scalingReport, "scaling-correlation": correlationReport })[data.kind]();
drawAll();
