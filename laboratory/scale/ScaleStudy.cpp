//===- ScaleStudy.cpp - planned trainings as a study of the database of runs ----------===//
#include "laboratory/scale/ScaleStudy.h"
#include "laboratory/scale/Architectures.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "training/compile/ModelSpec.h"
#include "training/compile/Process.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace hybrid::rt::lab::scale {
namespace {
using nlohmann::json;

/// Appendix C of Poli et al. 2024.
constexpr double weightDecay = 0.1;

std::string nameOf(const PlannedRun &run) { return run.architecture + " " + run.size; }

Result<Architecture> architectureOf(const PlannedRun &run) {
  auto source = readText(run.path);
  if (!source)
    return source.error();
  Architecture architecture;
  architecture.name = nameOf(run);
  architecture.path = run.path;
  architecture.source = std::move(*source);
  for (const std::string &setting : run.settings) {
    auto split = splitSetting(setting);
    if (!split)
      return split.error();
    architecture.settings[split->first] = split->second;
  }
  architecture.parameters = std::llround(run.cost.params);
  architecture.flopsPerToken = run.cost.flopsPerToken;
  architecture.state = run.cost.state;
  return architecture;
}

std::string settingOf(const PlannedRun &planned) {
  json setting{{"budget", planned.budget},
               {"size", planned.size},
               {"flops", planned.flops},
               {"sweep", !planned.sweep.empty()}};
  for (const SweepKind &kind : sweepKinds())
    if (planned.sweep == kind.name && !kind.variesModel)
      setting[kind.name] = planned.factor;
  return jsonLine(setting);
}

/// Fills in whether it is of a sweep, and of which.
void readSweep(const json &setting, TrainedRun &run) {
  if (!jsonField<bool>(setting, "sweep").value_or(false))
    return;
  for (const SweepKind &kind : sweepKinds())
    if (auto factor = jsonField<double>(setting, kind.name)) {
      run.sweep = kind.name;
      run.factor = *factor;
    } else if (kind.variesModel && run.sweep.empty()) {
      run.sweep = kind.name;
    }
}

Run pendingRun(const PlannedRun &planned, uint64_t seed) {
  Run run;
  run.architecture = nameOf(planned);
  run.task = planned.architecture;
  run.setting = settingOf(planned);
  run.axis = "budget";
  run.axisValue = planned.budget;
  run.learningRate = planned.rate;
  run.weightDecay = weightDecay;
  run.seed = seed;
  run.status = "pending";
  run.batch = planned.batch;
  run.steps = planned.steps;
  run.parameters = std::llround(planned.cost.params);
  run.flopsPerToken = planned.cost.flopsPerToken;
  if (planned.cost.state)
    run.stateElements = planned.cost.state->total();
  return run;
}

std::string quoted(const std::string &cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos)
    return cell;
  std::string text = "\"";
  for (char letter : cell)
    text += letter == '"' ? "\"\"" : std::string(1, letter);
  return text + "\"";
}

} // namespace

json ScaleProtocol::toJson() const {
  json stored{{"data", data},           {"length", length},    {"cost_method", method},
              {"precision", precision}, {"device", processor}, {"eval_examples", evalExamples}};
  if (baseWidth)
    stored["base_width"] = *baseWidth;
  return stored;
}

Result<ScaleProtocol> ScaleProtocol::fromJson(const json &stored) {
  ScaleProtocol protocol;
  auto data = jsonField<std::string>(stored, "data"),
       method = jsonField<std::string>(stored, "cost_method"),
       precision = jsonField<std::string>(stored, "precision"),
       processor = jsonField<std::string>(stored, "device");
  auto length = jsonField<int64_t>(stored, "length");
  auto examples = jsonField<uint64_t>(stored, "eval_examples");
  if (!data || !method || !precision || !processor || !length || !examples || *length < 1)
    return Error{"the study does not say how its runs train: it is damaged, or of another version"};
  return ScaleProtocol{*data,
                       *length,
                       *method,
                       *precision,
                       *processor,
                       *examples,
                       jsonField<int64_t>(stored, "base_width")};
}

Result<Study> studyOf(const ScaleProtocol &protocol, const std::vector<PlannedRun> &runs,
                      const std::string &version, uint64_t seed) {
  Study study;
  study.convention = suiteName;
  study.suite = suiteName;
  study.version = version + ", " + compilerVersion(findCompiler());
  study.command = commandLine();
  study.seed = seed;
  study.protocol = jsonLine(protocol.toJson());
  const json options = protocol.toJson();
  for (const auto &[name, value] : options.items())
    study.options.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  std::set<std::string> known;
  for (const PlannedRun &run : runs) {
    if (known.insert(nameOf(run)).second) {
      auto architecture = architectureOf(run);
      if (!architecture)
        return architecture.error();
      study.architectures.push_back(std::move(*architecture));
    }
    study.runs.push_back(pendingRun(run, seed));
  }
  // What ends early shows early.
  std::stable_sort(study.runs.begin(), study.runs.end(),
                   [](const Run &a, const Run &b) { return a.axisValue < b.axisValue; });
  return study;
}

Result<Study> grownStudy(const Study &stored, Study wanted, const std::string &path) {
  auto other = [&](const std::string &what) {
    return Error{fmt::format("'{}' holds another study: {}. Give another --out, or the options of "
                             "the first time: {}",
                             path, what, stored.command)};
  };
  if (stored.suite != suiteName)
    return other("it is none of scaling");
  const json before = parseJsonOrNull(stored.protocol), now = parseJsonOrNull(wanted.protocol);
  if (!before.is_object())
    return other("it does not say how its runs train");
  json both = before;
  both.update(now);
  for (const auto &[name, either] : both.items())
    if (const json had = before.value(name, json()), has = now.value(name, json()); had != has)
      return other(fmt::format("its {} is {}, not {}", name, jsonLine(had), jsonLine(has)));
  std::vector<Architecture> architectures = stored.architectures;
  for (Architecture &each : wanted.architectures) {
    auto there = std::find_if(architectures.begin(), architectures.end(),
                              [&](const Architecture &old) { return old.name == each.name; });
    if (there == architectures.end())
      architectures.push_back(std::move(each));
    else if (there->source != each.source || there->settings != each.settings)
      return other(fmt::format("{} has another text or other settings", each.name));
  }
  wanted.architectures = std::move(architectures);
  return wanted;
}

std::vector<TrainedRun> trainedRuns(const Study &study) {
  const int64_t length = jsonField<int64_t>(parseJsonOrNull(study.protocol), "length").value_or(0);
  std::map<std::string, const Architecture *> architectures;
  for (const Architecture &each : study.architectures)
    architectures[each.name] = &each;
  std::vector<TrainedRun> runs;
  for (const Run &run : study.runs) {
    const json setting = parseJsonOrNull(run.setting);
    const Architecture &architecture = *architectures.at(run.architecture);
    TrainedRun trained;
    trained.point = {run.task, jsonField<double>(setting, "flops").value_or(0.0),
                     static_cast<double>(run.parameters),
                     static_cast<double>(run.batch * run.steps * length), run.loss};
    trained.size = jsonField<std::string>(setting, "size").value_or("");
    trained.budget = run.axisValue;
    readSweep(setting, trained);
    trained.batch = run.batch;
    trained.steps = run.steps;
    trained.retried = run.diverged && run.status == "done";
    trained.rate = trained.retried ? run.learningRate / 2 : run.learningRate;
    trained.state = architecture.state;
    trained.attention = attentionShare(architecture.settings);
    trained.seconds = run.seconds;
    trained.status = run.status;
    trained.error = run.error;
    runs.push_back(std::move(trained));
  }
  return runs;
}

std::string nameOf(const TrainedRun &run) {
  return fmt::format("{} {} at {:.3g} FLOPs{}", run.point.group, run.size, run.budget,
                     run.factor > 0 ? fmt::format(", {} {:g}", run.sweep, run.factor) : "");
}

std::vector<Point> pointsOf(const std::vector<TrainedRun> &runs) {
  std::vector<Point> points;
  for (const TrainedRun &run : runs)
    if (run.isDone())
      points.push_back(run.point);
  return points;
}

std::string pointsTable(const std::vector<TrainedRun> &runs) {
  const bool hasFactor =
      std::any_of(runs.begin(), runs.end(), [](const TrainedRun &run) { return run.factor > 0; });
  std::string text = fmt::format("group,flops,params,tokens,loss,size,budget,batch,steps,rate,"
                                 "retried,fixed_state,dynamic_state,attention_share{},seconds\n",
                                 hasFactor ? ",factor" : "");
  for (const TrainedRun &run : runs)
    if (run.isDone())
      text +=
          fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}{},{:.3f}\n",
                      quoted(run.point.group), run.point.flops, run.point.params, run.point.tokens,
                      run.point.loss, quoted(run.size), run.budget, run.batch, run.steps, run.rate,
                      run.retried ? 1 : 0, run.state ? std::to_string(run.state->fixed) : "",
                      run.state ? std::to_string(run.state->growing) : "",
                      run.attention ? fmt::format("{:.4g}", *run.attention) : "",
                      hasFactor ? fmt::format(",{}", run.factor) : "", run.seconds);
  return text;
}

} // namespace hybrid::rt::lab::scale
