//===- PaperRun.cpp - a recipe measured ----------------------------------------------===//
#include "laboratory/StudyRun.h"
#include "laboratory/Suite.h"
#include "laboratory/paper/Paper.h"
#include "laboratory/paper/PaperText.h"
#include "laboratory/report/Page.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/compile/ModelSpec.h"
#include "training/compile/Process.h"
#include "training/data/Fetch.h"
#include "training/record/FolderLock.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace hybrid::rt::lab {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

/// Cells that took a while, kept in the folder so that none is measured twice.
class CellBook {
public:
  static Result<CellBook> open(const std::string &folder, const Recipe &recipe,
                               std::optional<uint64_t> seed) {
    CellBook book;
    auto lock = FolderLock::take(folder);
    if (!lock)
      return lock.error();
    book.lock.emplace(std::move(*lock));
    book.path = folder + "/cells.json";
    book.content = {{"recipe", recipe.name}, {"budget", recipe.budget}, {"cells", json::object()}};
    if (seed)
      book.content["seed"] = *seed;
    std::error_code unknown;
    if (!fs::exists(book.path, unknown))
      return book;
    auto text = readText(book.path);
    if (!text)
      return text.error();
    auto there = parseJson(*text, book.path);
    if (!there)
      return there.error();
    for (const char *key : {"recipe", "budget", "seed"})
      if (!there->is_object() || there->value(key, json()) != book.content.value(key, json()))
        return Error{fmt::format("'{}' holds another recipe, budget or seed than {} ({}{}): give "
                                 "another --out",
                                 folder, recipe.name, recipe.budget,
                                 seed ? fmt::format(", seed {}", *seed) : "")};
    if (auto cells = there->find("cells"); cells == there->end() || !cells->is_object())
      return Error{fmt::format(
          "{}: 'cells' is no object: this file was changed, give another --out", book.path)};
    book.content = std::move(*there);
    return book;
  }
  const json *find(const std::string &row, const std::string &column) const {
    auto found = content["cells"].find(row + "|" + column);
    return found == content["cells"].end() ? nullptr : &*found;
  }
  Result<void> add(const std::string &row, const std::string &column, json value) {
    content["cells"][row + "|" + column] = std::move(value);
    return writeFileAtomically(path, jsonText(content) + "\n");
  }

private:
  std::optional<FolderLock> lock; // two writers would lose each other's cells
  std::string path;
  json content;
};

PaperValue valueOf(const json &cell) {
  if (cell.is_number())
    return cell.get<double>();
  return cell.is_string() ? PaperValue(cell.get<std::string>()) : PaperValue();
}

void addSettings(std::vector<std::string> &arguments, const std::vector<std::string> &settings) {
  for (const std::string &setting : settings)
    arguments.insert(arguments.end(), {"--set", setting});
}

class PaperRun {
public:
  PaperRun(const Recipe &recipe, const PaperOptions &options, std::string folder)
      : recipe(recipe), options(options), folder(std::move(folder)) {}

  Result<PaperOutcome> measure() {
    if (recipe.kind == RecipeKind::Study)
      return study();
    auto opened = CellBook::open(folder, recipe, options.seed);
    if (!opened)
      return opened.error();
    CellBook book = std::move(*opened);
    PaperOutcome outcome;
    for (const RecipeRow &row : recipe.rows)
      for (const RecipeColumn &column : recipe.columns) {
        const json *known = book.find(row.name, column.name);
        if (!known) {
          if (!options.quiet)
            say(stderr, "{}: {} at {}\n", recipe.name, row.name, column.name);
          auto cell = recipe.kind == RecipeKind::Costs   ? cost(row, column)
                      : recipe.kind == RecipeKind::Times ? milliseconds(row, column)
                                                         : outcomeOf(row, column);
          if (!cell)
            return cell.error();
          if (auto done = book.add(row.name, column.name, *cell); !done)
            return done.error();
          known = book.find(row.name, column.name);
        }
        outcome.measured[{row.name, column.name}] = valueOf(*known);
      }
    return outcome;
  }

private:
  std::string pathOf(const RecipeRow &row) const {
    return (fs::path(options.papers).parent_path() / row.model.path).lexically_normal();
  }

  static PaperValue scoredValue(const SettingScore &score, const RecipeColumn &column) {
    if (column.quantity != "loss")
      return 100 * score.accuracy;
    return std::isfinite(score.loss) ? PaperValue(score.loss) : PaperValue("diverged");
  }

  /// One study of the laboratory: a model a row, a task a column.
  Result<PaperOutcome> study() {
    StudyOptions study;
    study.version = options.version;
    study.out = folder + "/study";
    study.protocol = recipe.protocol;
    study.jobs = options.jobs;
    study.threads = options.threads;
    study.quiet = options.quiet;
    study.printScores = false;
    for (const RecipeRow &row : recipe.rows) {
      ModelChoice choice = row.model;
      choice.path = pathOf(row);
      study.choices.push_back(std::move(choice));
    }
    std::map<std::string, std::string> keys; // by column: the setting's
    for (const RecipeColumn &column : recipe.columns) {
      study.protocol.tasks.push_back(column.task);
      auto task = createTask(column.task, study.protocol.convention);
      if (!task)
        return Error{
            fmt::format("{}: column {}: {}", recipe.file, column.name, task.error().message)};
      keys[column.name] = (*task)->spec();
    }
    if (auto done = runStudy(study); !done)
      return done.error();
    auto read = readStudy(study.out + "/study.sqlite");
    if (!read)
      return read.error();
    PaperOutcome outcome;
    for (const SettingScore &score : scoreStudy(*read).settings)
      for (const RecipeColumn &column : recipe.columns)
        if (score.bestRun && score.setting.substr(0, score.setting.find(';')) == keys[column.name])
          outcome.measured[{score.architecture, column.name}] = scoredValue(score, column);
    return outcome;
  }

  /// What the compiler counts of a model.
  Result<json> costs(const RecipeRow &row, int64_t length,
                     const std::vector<std::string> &settings) {
    std::vector<std::string> arguments{pathOf(row), "--cost=json",
                                       "--batch",   "1",
                                       "--length",  std::to_string(std::max<int64_t>(1, length))};
    addSettings(arguments, row.model.settings);
    addSettings(arguments, settings);
    return ask(findCompiler(), arguments);
  }

  /// A field of it.
  Result<json> cost(const RecipeRow &row, const RecipeColumn &column) {
    auto counted = costs(row, column.length, column.settings);
    if (!counted)
      return counted.error();
    auto value = jsonField<double>(*counted, column.quantity);
    if (!value)
      return Error{fmt::format("{}: column {}: the compiler counts no '{}'", recipe.file,
                               column.name, column.quantity)};
    return json(*value * column.scale);
  }

  /// Of a forward pass over a batch.
  Result<json> milliseconds(const RecipeRow &row, const RecipeColumn &column) {
    std::vector<std::string> arguments{"bench",
                                       pathOf(row),
                                       "--program=forward",
                                       "--json",
                                       "--steps",
                                       "5",
                                       "--warmup",
                                       "1",
                                       "--batch",
                                       std::to_string(column.batch),
                                       "--length",
                                       std::to_string(column.length)};
    if (options.threads > 0)
      arguments.insert(arguments.end(), {"--threads", std::to_string(options.threads)});
    addSettings(arguments, row.model.settings);
    addSettings(arguments, column.settings);
    return numberOf(arguments, "ms_per_step", 1);
  }

  const RecipeTraining &trainingOf(const RecipeColumn &column) const {
    static const RecipeTraining ofTheRow; // its arguments say it all
    for (const RecipeTraining &each : recipe.trainings)
      if (each.name == column.training)
        return each;
    return ofTheRow;
  }

  /// The value of an option among arguments; empty: none.
  static std::string valueOfOption(const std::vector<std::string> &arguments,
                                   const std::string &name) {
    auto found = std::find(arguments.begin(), arguments.end(), name);
    return found == arguments.end() || found + 1 == arguments.end() ? "" : *(found + 1);
  }

  /// How many steps of a model come to the training's FLOPs.
  Result<int64_t> stepsOf(const RecipeRow &row, const RecipeTraining &training,
                          const std::vector<std::string> &arguments) {
    double positions = 1; // of a step
    for (const char *name : {"--batch", "--length"})
      positions *= std::strtod(valueOfOption(arguments, name).c_str(), nullptr);
    if (!(positions >= 1))
      return Error{fmt::format("{}: training {}: flops need --batch and --length among the "
                               "arguments",
                               recipe.file, training.name)};
    auto counted =
        costs(row, std::atoll(valueOfOption(arguments, "--length").c_str()), training.settings);
    if (!counted)
      return counted.error();
    const double each = jsonField<double>(*counted, "training_flops_per_token").value_or(0);
    return each > 0 ? std::max<int64_t>(1, std::llround(training.flops / (each * positions))) : 1;
  }

  /// Trains a row's model, unless that is done, and returns the run's folder.
  Result<std::string> trained(const RecipeRow &row, const RecipeTraining &training) {
    const std::string run =
        folder + "/" + (training.name.empty() ? "" : training.name + "/") + row.name;
    std::error_code unknown;
    if (fs::exists(run + "/summary.json", unknown))
      return run;
    std::vector<std::string> arguments{"train", pathOf(row)};
    addSettings(arguments, row.model.settings);
    addSettings(arguments, training.settings);
    if (!training.data.empty()) {
      auto data = withFetchedData(training.data, sources());
      if (!data)
        return data.error();
      arguments.insert(arguments.end(), {"--data", *data});
    }
    arguments.insert(arguments.end(), training.arguments.begin(), training.arguments.end());
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    if (training.flops > 0) {
      auto steps = stepsOf(row, training, arguments);
      if (!steps)
        return steps.error();
      arguments.insert(arguments.end(), {"--steps", std::to_string(*steps)});
    }
    if (options.threads > 0)
      arguments.insert(arguments.end(), {"--threads", std::to_string(options.threads)});
    if (options.seed)
      arguments.insert(arguments.end(), {"--seed", std::to_string(*options.seed)});
    arguments.insert(arguments.end(), {"--out", run});
    if (fs::exists(run + "/config.json", unknown))
      arguments.emplace_back("--resume");
    if (options.quiet)
      arguments.emplace_back("--quiet");
    auto output = runForOutput(self(), arguments);
    if (!output)
      return output.error();
    if (output->status != 0)
      return Error{fmt::format("training {} failed: {}", row.name, output->err)};
    return run;
  }

  FetchOptions sources() const { return {options.papers + "/sources.json", "", "", ""}; }

  /// What a training has come to: a score at the column's task or data, or something of the run.
  Result<json> outcomeOf(const RecipeRow &row, const RecipeColumn &column) {
    const RecipeTraining &training = trainingOf(column);
    static constexpr const char *scores[] = {"", "accuracy", "loss", "perplexity", "bits_per_byte"};
    static constexpr const char *ofTheRun[] = {"steps", "tokens", "train_seconds"};
    auto isOneOf = [&](const auto &names) {
      return std::find(std::begin(names), std::end(names), column.quantity) != std::end(names);
    };
    std::vector<std::string> settings = training.settings;
    settings.insert(settings.end(), column.settings.begin(), column.settings.end());
    const std::string trainedLength = valueOfOption(training.arguments, "--length");
    const int64_t length = column.length > 0 ? column.length : std::atoll(trainedLength.c_str());
    if (!isOneOf(scores) && !isOneOf(ofTheRun)) {
      RecipeColumn counted = column;
      counted.length = length;
      counted.settings = settings;
      return cost(row, counted);
    }
    auto run = trained(row, training);
    if (!run)
      return run.error();
    if (isOneOf(ofTheRun)) {
      auto summary = readText(*run + "/summary.json");
      auto value =
          summary ? jsonField<double>(parseJsonOrNull(*summary), column.quantity) : std::nullopt;
      if (!value)
        return Error{fmt::format("{}/summary.json has no {}", *run, column.quantity)};
      return json(*value * column.scale);
    }
    fs::path checkpoint;
    std::error_code unknown;
    for (const auto &entry : fs::directory_iterator(*run + "/checkpoints", unknown))
      if (entry.path().filename().string().starts_with("step-") &&
          entry.path().extension() == ".safetensors" && entry.path() > checkpoint)
        checkpoint = entry.path();
    std::vector<std::string> arguments{"eval",
                                       pathOf(row),
                                       "--json",
                                       "--checkpoint",
                                       checkpoint,
                                       "--examples",
                                       std::to_string(column.examples),
                                       "--batch",
                                       std::to_string(column.batch)};
    if (const std::string &spec = column.data.empty() ? training.data : column.data;
        column.task.empty() && !spec.empty()) {
      auto data = withFetchedData(spec, sources());
      if (!data)
        return data.error();
      arguments.insert(arguments.end(), {"--data", *data});
    } else {
      arguments.insert(arguments.end(), {"--task", column.task});
    }
    if (length > 0)
      arguments.insert(arguments.end(), {"--length", std::to_string(length)});
    if (options.threads > 0)
      arguments.insert(arguments.end(), {"--threads", std::to_string(options.threads)});
    addSettings(arguments, row.model.settings);
    addSettings(arguments, settings);
    if (column.quantity != "perplexity")
      return numberOf(arguments, "eval_" + (column.quantity.empty() ? "accuracy" : column.quantity),
                      column.scale *
                          (column.quantity.empty() || column.quantity == "accuracy" ? 100 : 1));
    auto loss = numberOf(arguments, "eval_loss", 1);
    return loss && loss->is_number() ? json(column.scale * std::exp(loss->get<double>())) : loss;
  }

  /// `scale` times a number that a verb of this program says as JSON.
  Result<json> numberOf(const std::vector<std::string> &arguments, const std::string &field,
                        double scale) {
    auto said = ask(self(), arguments);
    if (!said) // a program that the machine has no memory for says so; anything else is a fault
      return said.error().message.find("memory") != std::string::npos
                 ? Result<json>(json("does not fit"))
                 : said.error();
    auto value = jsonField<double>(*said, field);
    if (!value)
      return Error{fmt::format("hybrid-run {} does not say {}", arguments.front(), field)};
    return json(scale * *value);
  }

  Result<json> ask(const std::string &program, const std::vector<std::string> &arguments) {
    auto output = runForOutput(program, arguments);
    if (!output)
      return output.error();
    if (output->status != 0)
      return Error{fmt::format("{}: {} {}: {}\n{}", recipe.file, fs::path(program).stem().string(),
                               fmt::join(arguments, " "), output->text(), output->err)};
    return parseJson(output->out, program);
  }

  static std::string self() {
    std::error_code unknown;
    return fs::read_symlink("/proc/self/exe", unknown);
  }

  const Recipe &recipe;
  const PaperOptions &options;
  std::string folder;
};

/// Leaves the rows of these names, all where there are none.
Result<void> keepRows(Recipe &recipe, const std::vector<std::string> &names) {
  std::vector<std::string> known;
  for (const RecipeRow &row : recipe.rows)
    known.push_back(row.name);
  for (const std::string &name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{fmt::format("--rows {}: {} ({}) has {}", name, recipe.name, recipe.budget,
                               fmt::join(known, ", "))};
  std::erase_if(recipe.rows, [&](const RecipeRow &row) {
    return !names.empty() && std::find(names.begin(), names.end(), row.name) == names.end();
  });
  return {};
}

} // namespace

Result<void> runPaper(const PaperOptions &options) {
  auto recipe = readRecipe(options.papers, options.recipe, options.budget);
  if (!recipe)
    return recipe.error();
  if (auto done = keepRows(*recipe, options.rows); !done)
    return done;
  if (options.seed) {
    if (recipe->kind == RecipeKind::Costs || recipe->kind == RecipeKind::Times)
      return Error{fmt::format("--seed: {} trains nothing", recipe->name)};
    recipe->protocol.seed = *options.seed;
  }
  const std::string folder = options.out.empty()
                                 ? fmt::format("runs/paper-{}-{}", recipe->name, recipe->budget)
                                 : options.out;
  if (auto done = makeFolder(folder); !done)
    return done;
  auto outcome = PaperRun(*recipe, options, folder).measure();
  if (!outcome)
    return outcome.error();
  outcome->checks = checkRecipe(*recipe, *outcome);
  nlohmann::ordered_json data = paperJson(*recipe, *outcome);
  data["version"] = options.version;
  data["date"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  data["command"] = commandLine();
  const std::string table = paperTable(*recipe, *outcome);
  const std::pair<const char *, std::string> files[] = {
      {"paper.json", jsonText(data) + "\n"},
      {"report.html", report::page(data)},
      {"section.md", paperSection(*recipe, *outcome, options.version)}};
  for (const auto &[name, content] : files)
    if (auto done = writeFileAtomically(folder + "/" + name, content); !done)
      return done;
  if (options.json)
    say("{}\n", jsonText(data));
  else
    say("{}{}/report.html\n", table, folder);
  return {};
}

} // namespace hybrid::rt::lab
