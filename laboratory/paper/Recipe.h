//===- Recipe.h - how a table or figure of a paper is measured ---------------------===//
//
// A recipe is a file papers/NAME.json; docs/book/papers.md says what its keys mean. Rows are
// models, columns what is measured of them; printed values stand beside, and checks say what of
// them is to come out. Budgets change protocol, models or columns; "full" is the paper's own.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Models.h"
#include "laboratory/Protocol.h"
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hybrid::rt::lab {

/// What is measured: accuracy after a training for each column's task; what trainings of each model
/// come to at each column's task or data; what the compiler counts; milliseconds of a forward pass.
enum class RecipeKind { Study, Trainings, Costs, Times };

struct RecipeRow {
  std::string name;
  ModelChoice model;                  // its path from the root of the tree
  std::vector<std::string> arguments; // of `hybrid-run train`, for Trainings
};

/// One of several trainings that each model has. `data` may have {NAME}, a data set that is
/// fetched.
struct RecipeTraining {
  std::string name, data;
  double flops = 0; // of all steps, as the compiler counts; 0: the arguments say how many steps
  std::vector<std::string> settings, arguments;
};

struct RecipeColumn {
  std::string name;
  std::string task;              // of Study and Trainings
  std::string training, data;    // of Trainings: which one; what it is tested on, if other data
  int64_t length = 0, batch = 1; // of Costs, Times and Trainings: 0 is that of the training
  int64_t examples = 256;        // of Trainings: test instances
  std::string quantity;          // of Costs: a field of --cost=json; of Study: accuracy, or loss;
                                 // of Trainings: a score, something of the training or such a field
  double scale = 1;              // of Costs and Trainings: what it is multiplied with
  int64_t digits = 1;            // of its numbers behind the point, in tables
  std::vector<std::string> settings; // NAME=VALUE, not of Study
};

/// A number, or what happened instead: "does not fit".
using PaperValue = std::variant<std::monostate, double, std::string>;

/// `order`: in the column each row's value is at least `value` above the next one's (below it where
/// `falling`). `within`: printed and measured values differ by at most so much, `relative` as a
/// share; of all cells where no column is named. `least`: the row has so much in the column.
/// `gain`: the mean of the rows is by more than `value` above that of the rows `over`, over all
/// columns or the one that is named. `falls`: along the `columns` each of the rows' values is by
/// more than `value` below the one before.
struct RecipeCheck {
  enum class Kind { Order, Within, Least, Gain, Falls } kind = Kind::Within;
  std::string column, budget; // budget: the only one that it is for
  std::vector<std::string> rows, over, columns;
  double value = 0;
  bool relative = false, falling = false;
};

struct Recipe {
  std::string name, file, paper, title, note, unit;
  std::vector<std::string> items; // "Table C.1"
  RecipeKind kind = RecipeKind::Study;
  std::string budget;                    // the one that was chosen
  Protocol protocol;                     // of Study
  std::vector<RecipeTraining> trainings; // of Trainings; none: one, of the rows' arguments
  std::vector<RecipeRow> rows;
  std::vector<RecipeColumn> columns;
  std::map<std::pair<std::string, std::string>, PaperValue> printed; // by row and column
  std::vector<RecipeCheck> checks;
};

/// Reads papers/NAME.json of `folder`, or NAME itself where it is a file, for a budget. Errors name
/// the file and the key.
Result<Recipe> readRecipe(const std::string &folder, const std::string &name,
                          const std::string &budget);

} // namespace hybrid::rt::lab
