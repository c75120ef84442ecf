//===- Names.h - what each name of a text stands for ---------------------------===//
#pragma once
#include "frontends/editor/Analysis.h"
#include <map>

namespace hybrid::editor {

/// Where a name is made. A layer of a file that is used has one too.
struct Declaration {
  enum class Kind : uint8_t { Layer, Model, Parameter, Variable, Size, Port, Operator, Module };
  Kind kind;
  std::string name;
  dsl::Place place;                                // Operator: none
  const dsl::Definition *definition = nullptr;     // itself, or the one that it is in
  const dsl::ParameterSyntax *parameter = nullptr; // Parameter
};

struct Occurrence {
  uint32_t offset, length;
  const Declaration *declaration;
};

/// The names of a main file, resolved as the elaborator does, but without running anything.
class Names {
public:
  explicit Names(const Analysis &analysis);

  /// The name under a byte, or right before it; null: none.
  const Occurrence *at(size_t offset) const;
  const std::vector<Occurrence> &all() const { return occurrences; }
  /// What is declared in the main file, in its order.
  std::vector<const Declaration *> own() const;

private:
  friend class NameReader;
  const Declaration *declare(Declaration declaration);

  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Declaration>> declarations;
  std::map<std::string, std::unique_ptr<Declaration>> operators;
  std::vector<Occurrence> occurrences; // by offset
  uint32_t file;
};

/// The layer that is called: a name, perhaps with arguments given by `with`; null: not known before
/// the model runs.
const dsl::Definition *calleeOf(const dsl::Module &module, const dsl::Expression &callee);

} // namespace hybrid::editor
