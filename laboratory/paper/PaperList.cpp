//===- PaperList.cpp - what of the papers can be measured ----------------------------===//
//
// papers/items.json names every table and figure, each with the recipe that measures it, or with
// what is missing (`needs`), or why there is nothing to measure (`nothing`). papers/results/*.json
// are outcomes that were kept: what has one is reproduced.
//
//===----------------------------------------------------------------------===//
#include "laboratory/Columns.h"
#include "laboratory/paper/JsonReader.h"
#include "laboratory/paper/Paper.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt::lab {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

struct Kept {
  std::string budget, date;
  int64_t held = 0, checks = 0;
};

/// Outcomes by recipe.
Result<std::map<std::string, std::vector<Kept>>> keptResults(const std::string &folder) {
  std::map<std::string, std::vector<Kept>> kept;
  std::vector<std::string> files;
  std::error_code unknown;
  for (const auto &entry : fs::directory_iterator(folder, unknown))
    if (entry.path().extension() == ".json")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::string &file : files) {
    auto outcome = readJson(file);
    if (!outcome)
      return outcome.error();
    auto recipe = jsonField<std::string>(*outcome, "recipe"),
         budget = jsonField<std::string>(*outcome, "budget"),
         date = jsonField<std::string>(*outcome, "date");
    if (!recipe || !budget || !date || !(*outcome)["checks"].is_array())
      return Error{fmt::format("{}: needs recipe, budget, date and checks", file)};
    Kept each{*budget, *date, 0, 0};
    for (const json &check : (*outcome)["checks"]) {
      ++each.checks;
      each.held += jsonField<bool>(check, "holds").value_or(false);
    }
    kept[*recipe].push_back(each);
  }
  return kept;
}

} // namespace

Result<void> listPapers(const std::string &papers, bool asJson) {
  const std::string file = papers + "/items.json";
  auto index = readJson(file);
  if (!index)
    return index.error();
  auto kept = keptResults(papers + "/results");
  if (!kept)
    return kept.error();
  if (!index->is_array())
    return Error{fmt::format("{}: is no array of papers", file)};
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows{
      {"table or figure", "what it shows", "state", "recipe"}};
  for (const json &paper : *index) {
    rows.push_back({jsonField<std::string>(paper, "title").value_or(""), "", "", ""});
    if (!paper.is_object() || !paper.contains("items") || !paper["items"].is_array())
      return Error{fmt::format("{}: a paper has no array 'items'", file)};
    for (const json &item : paper["items"]) {
      auto text = [&](const char *key) { return jsonField<std::string>(item, key).value_or(""); };
      const std::string name = text("item"), recipe = text("recipe"), needs = text("needs"),
                        nothing = text("nothing");
      if (name.empty() || int(!recipe.empty()) + int(!needs.empty()) + int(!nothing.empty()) != 1)
        return Error{fmt::format("{}: item '{}' of {} needs a name and one of recipe, needs, "
                                 "nothing",
                                 file, name, text("id"))};
      std::string state;
      if (!recipe.empty()) {
        if (auto read = readRecipe(papers, recipe, "minutes"); !read)
          return read.error();
        state = "runnable";
        for (const Kept &each : (*kept)[recipe])
          state = fmt::format("{}{}, {}: {} of {} checks hold",
                              state == "runnable" ? "reproduced: " : state + "; ", each.budget,
                              each.date, each.held, each.checks);
      } else {
        state = needs.empty() ? "nothing to measure: " + nothing : "needs " + needs;
      }
      rows.push_back({"  " + name, text("title"), state, recipe});
      list.push_back({{"paper", jsonField<std::string>(paper, "id").value_or("")},
                      {"item", name},
                      {"title", text("title")},
                      {"state", state},
                      {"recipe", recipe}});
    }
  }
  if (asJson) {
    say("{}\n", jsonText(list));
    return {};
  }
  size_t widths[3] = {};
  auto columnsOf = [](const std::string &text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) >> 6) != 2;
    }));
  };
  for (const auto &row : rows)
    for (size_t i = 0; i < 3; ++i)
      if (!row[1].empty() || i > 0)
        widths[i] = std::max(widths[i], columnsOf(row[i]));
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < 4; ++i)
      line +=
          row[i] +
          (i < 3 && columnsOf(row[i]) < widths[i] ? std::string(widths[i] - columnsOf(row[i]), ' ')
                                                  : "") +
          "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    say("{}\n", line);
  }
  return {};
}

} // namespace hybrid::rt::lab
