//===- Recipe.cpp - how a table or figure of a paper is measured -------------------===//
#include "laboratory/paper/Recipe.h"
#include "laboratory/paper/JsonReader.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt::lab {
namespace {
using nlohmann::json;

/// Calls `each(object, place)` for the elements of an array.
template <typename Each>
void forEach(const json *array, const std::string &place, const Each &each) {
  for (size_t i = 0; array && i < array->size(); ++i)
    each((*array)[i], fmt::format("{}[{}]", place, i));
}

void readProtocol(const json *changes, const std::string &place, Protocol &protocol,
                  std::string &fault) {
  if (!changes || !fault.empty())
    return;
  json whole = protocol.toJson();
  for (const auto &[key, value] : changes->items()) {
    if (!whole.contains(key) || key == "suite" || key == "tasks") {
      std::vector<std::string> names;
      for (const auto &[name, each] : whole.items())
        if (name != "suite" && name != "tasks")
          names.push_back(name);
      fault =
          fmt::format("{}.{}: is no key here; there are {}", place, key, fmt::join(names, ", "));
      return;
    }
    whole[key] = value;
  }
  auto read = Protocol::fromJson(whole);
  if (read)
    protocol = *read;
  else
    fault = fmt::format("{}: {}", place, read.error().message);
}

std::vector<RecipeRow> readRows(const json *models, const std::string &place, std::string &fault) {
  std::vector<RecipeRow> rows;
  forEach(models, place, [&](const json &each, const std::string &where) {
    JsonReader reader(each, where, fault);
    RecipeRow row;
    row.name = reader.get<std::string>("name");
    row.model = {reader.get<std::string>("path"), row.name, reader.settings("settings")};
    row.arguments = reader.texts("arguments");
    reader.end();
    rows.push_back(std::move(row));
  });
  return rows;
}

std::vector<RecipeColumn> readColumns(const json *list, const std::string &place,
                                      std::string &fault) {
  std::vector<RecipeColumn> columns;
  forEach(list, place, [&](const json &each, const std::string &where) {
    JsonReader reader(each, where, fault);
    RecipeColumn column;
    column.name = reader.get<std::string>("name");
    column.task = reader.get<std::string>("task", "");
    column.training = reader.get<std::string>("training", "");
    column.data = reader.get<std::string>("data", "");
    column.length = reader.get<int64_t>("length", 0);
    column.batch = reader.get<int64_t>("batch", 1);
    column.examples = reader.get<int64_t>("examples", column.examples);
    column.quantity = reader.get<std::string>("quantity", "");
    column.scale = reader.get<double>("scale", 1.0);
    column.digits = reader.get<int64_t>("digits", column.digits);
    if (column.digits < 0 || column.digits > 9)
      reader.fail("digits", "is none of 0 to 9");
    column.settings = reader.settings("settings");
    reader.end();
    columns.push_back(std::move(column));
  });
  return columns;
}

std::vector<RecipeTraining> readTrainings(const json *list, std::string &fault) {
  std::vector<RecipeTraining> trainings;
  forEach(list, "trainings", [&](const json &each, const std::string &where) {
    JsonReader reader(each, where, fault);
    RecipeTraining training;
    training.name = reader.get<std::string>("name");
    training.data = reader.get<std::string>("data");
    training.flops = reader.get<double>("flops", 0.0);
    training.settings = reader.settings("settings");
    training.arguments = reader.texts("arguments");
    if (training.name.empty() || training.name.find('/') != std::string::npos ||
        training.name.starts_with('.'))
      reader.fail("name", "is no name of a folder");
    reader.end();
    trainings.push_back(std::move(training));
  });
  return trainings;
}

/// Options with their value; one that is there gets the new value.
void replaceArguments(std::vector<std::string> &arguments, const std::vector<std::string> &more) {
  for (size_t i = 0; i + 1 < more.size(); i += 2) {
    auto found = std::find(arguments.begin(), arguments.end(), more[i]);
    if (found != arguments.end() && found + 1 != arguments.end())
      *(found + 1) = more[i + 1];
    else
      arguments.insert(arguments.end(), {more[i], more[i + 1]});
  }
}

/// A budget says only what it changes: the protocol, which models, other columns.
void readBudget(const json *budgets, Recipe &recipe, std::string &fault) {
  std::optional<Recipe> chosen;
  for (const auto &[name, changes] : budgets->items()) {
    if (name != "minutes" && name != "hours" && name != "full") {
      fault = fmt::format("budgets.{}: is no budget; there are minutes, hours, full", name);
      return;
    }
    // All are read, so that a fault in one shows whichever is asked for.
    Recipe other = recipe;
    const std::string place = "budgets." + name;
    JsonReader reader(changes, place, fault);
    readProtocol(reader.at("protocol", json::value_t::object), place + ".protocol", other.protocol,
                 fault);
    if (changes.is_object() && changes.contains("columns"))
      other.columns =
          readColumns(reader.at("columns", json::value_t::array), place + ".columns", fault);
    const std::vector<std::string> arguments = reader.texts("arguments");
    for (RecipeTraining &training : other.trainings)
      replaceArguments(training.arguments, arguments);
    for (RecipeRow &row : other.rows)
      if (other.trainings.empty())
        replaceArguments(row.arguments, arguments);
    const auto flops = reader.get<double>("flops", 0.0);
    for (RecipeTraining &training : other.trainings)
      training.flops = flops > 0 ? flops : training.flops;
    if (auto models = reader.texts("models"); !models.empty()) {
      std::erase_if(other.rows, [&](const RecipeRow &row) {
        return std::find(models.begin(), models.end(), row.name) == models.end();
      });
      if (other.rows.size() != models.size())
        reader.fail("models", "names a model that the recipe does not have");
    }
    reader.end();
    if (name == recipe.budget)
      chosen = std::move(other);
  }
  if (chosen)
    recipe = std::move(*chosen);
  else if (fault.empty())
    fault = fmt::format("budgets.{}: the recipe has no such budget", recipe.budget);
}

void readPrinted(const json *printed, Recipe &recipe, std::string &fault) {
  if (!printed)
    return;
  for (const auto &[row, cells] : printed->items()) {
    if (!cells.is_object()) {
      fault = fmt::format("printed.{}: is no object", row);
      return;
    }
    for (const auto &[column, value] : cells.items())
      if (value.is_number())
        recipe.printed[{row, column}] = value.get<double>();
      else if (value.is_string())
        recipe.printed[{row, column}] = value.get<std::string>();
      else
        fault = fmt::format("printed.{}.{}: is neither a number nor a text", row, column);
  }
}

std::vector<RecipeCheck> readChecks(const json *list, std::string &fault) {
  std::vector<RecipeCheck> checks;
  forEach(list, "checks", [&](const json &each, const std::string &where) {
    JsonReader reader(each, where, fault);
    RecipeCheck check;
    const auto kind = reader.get<std::string>("check");
    const std::map<std::string, RecipeCheck::Kind> kinds = {{"order", RecipeCheck::Kind::Order},
                                                            {"within", RecipeCheck::Kind::Within},
                                                            {"least", RecipeCheck::Kind::Least},
                                                            {"gain", RecipeCheck::Kind::Gain},
                                                            {"falls", RecipeCheck::Kind::Falls}};
    if (kinds.contains(kind))
      check.kind = kinds.at(kind);
    else
      reader.fail(
          "check",
          fmt::format("'{}' is no check; there are order, within, least, gain, falls", kind));
    check.rows = reader.texts("rows");
    check.over = reader.texts("over");
    check.columns = reader.texts("columns");
    if ((check.kind == RecipeCheck::Kind::Falls) != (check.columns.size() > 1))
      reader.fail("columns", "are two or more that values fall along, and of nothing else");
    if ((check.kind == RecipeCheck::Kind::Gain) == (check.over.empty() || check.rows.empty()))
      reader.fail("over", "names the rows that a gain is over, and nothing else");
    check.column = reader.get<std::string>("column", "");
    check.budget = reader.get<std::string>("budget", "");
    check.value = reader.get<double>("value", 0.0);
    check.relative = reader.get<bool>("relative", false);
    check.falling = reader.get<bool>("falling", false);
    if (check.kind == RecipeCheck::Kind::Order && (check.rows.size() < 2 || check.column.empty()))
      reader.fail("rows", "an order is of two rows or more in a column");
    if (check.kind == RecipeCheck::Kind::Least && check.rows.size() != 1)
      reader.fail("rows", "is of one row");
    reader.end();
    checks.push_back(std::move(check));
  });
  return checks;
}

std::string faultOf(const json &document, Recipe &recipe) {
  std::string fault;
  JsonReader reader(document, "", fault);
  recipe.paper = reader.get<std::string>("paper");
  recipe.items = reader.texts("items");
  recipe.title = reader.get<std::string>("title");
  recipe.note = reader.get<std::string>("note", "");
  recipe.unit = reader.get<std::string>("unit");
  const auto kind = reader.get<std::string>("kind");
  const std::map<std::string, RecipeKind> kinds = {{"study", RecipeKind::Study},
                                                   {"trainings", RecipeKind::Trainings},
                                                   {"costs", RecipeKind::Costs},
                                                   {"times", RecipeKind::Times}};
  if (kinds.contains(kind))
    recipe.kind = kinds.at(kind);
  else
    reader.fail("kind",
                fmt::format("'{}' is no kind; there are study, trainings, costs, times", kind));
  recipe.protocol = Protocol::named(recipe.name, Convention::Paper);
  readProtocol(reader.at("protocol", json::value_t::object), "protocol", recipe.protocol, fault);
  recipe.rows = readRows(reader.at("models", json::value_t::array), "models", fault);
  recipe.trainings = readTrainings(reader.at("trainings", json::value_t::array), fault);
  recipe.columns = readColumns(reader.at("columns", json::value_t::array), "columns", fault);
  readPrinted(reader.at("printed", json::value_t::object), recipe, fault);
  recipe.checks = readChecks(reader.at("checks", json::value_t::array), fault);
  const json *budgets = reader.at("budgets", json::value_t::object);
  reader.end();
  if (!budgets && fault.empty())
    reader.fail("budgets", "is missing");
  if (fault.empty())
    readBudget(budgets, recipe, fault);
  for (const RecipeColumn &column : recipe.columns)
    if (recipe.kind == RecipeKind::Study && fault.empty() && !column.quantity.empty() &&
        column.quantity != "accuracy" && column.quantity != "loss")
      reader.fail("columns", fmt::format("'{}': a study measures accuracy or loss, not '{}'",
                                         column.name, column.quantity));
  for (const RecipeColumn &column : recipe.columns)
    if (fault.empty() && recipe.kind == RecipeKind::Trainings &&
        recipe.trainings.empty() != column.training.empty())
      reader.fail("columns", fmt::format("'{}': names one of the trainings where there are any, "
                                         "and none otherwise",
                                         column.name));
    else if (fault.empty() && !column.training.empty() &&
             std::none_of(recipe.trainings.begin(), recipe.trainings.end(),
                          [&](const auto &each) { return each.name == column.training; }))
      reader.fail("columns",
                  fmt::format("'{}': there is no training '{}'", column.name, column.training));
  std::erase_if(recipe.checks, [&](const RecipeCheck &check) {
    return !check.budget.empty() && check.budget != recipe.budget;
  });
  return fault;
}

} // namespace

Result<Recipe> readRecipe(const std::string &folder, const std::string &name,
                          const std::string &budget) {
  namespace fs = std::filesystem;
  Recipe recipe;
  recipe.budget = budget;
  recipe.file = name.ends_with(".json") ? name : folder + "/" + name + ".json";
  recipe.name = fs::path(recipe.file).stem().string();
  auto text = readText(recipe.file);
  if (!text)
    return Error{fmt::format("no recipe is called '{}' (`hybrid-run paper --list` shows them): {}",
                             name, text.error().message)};
  auto document = parseJson(*text, recipe.file, {.uniqueKeys = true});
  if (!document)
    return document.error();
  if (std::string fault = faultOf(*document, recipe); !fault.empty())
    return Error{fmt::format("{}: {}", recipe.file, fault)};
  return recipe;
}

} // namespace hybrid::rt::lab
