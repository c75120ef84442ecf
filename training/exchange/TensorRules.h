//===- TensorRules.h - which of their tensors make which of ours --------------===//
//
// A rule says of a parameter of the model which tensors of a foreign file it is made of: rows of
// them in some order, or one transposed. Nothing is computed, so that a rule works in both
// directions and tensors come back bit by bit.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt::exchange {

using Shape = std::vector<int64_t>;

/// A tensor of the foreign file.
struct ForeignTensor {
  std::string name;
  Shape shape;
};

/// Rows (slices of the first dimension) of a foreign tensor.
struct RowRange {
  size_t source = 0; // index in TensorRule::sources
  int64_t first = 0, rows = 0;
};

struct TensorRule {
  std::string parameter; // ours
  Shape shape;           // of the parameter
  std::vector<ForeignTensor> sources;
  std::vector<RowRange> pieces; // one behind the other they are the parameter's numbers
  bool transposed = false;      // the one source is a matrix (columns, rows)
  bool cutAnywhere = false;     // files differ in how many of the rows each source has
};

/// The rules of a model, in the order in which they were added.
class TensorRules {
public:
  /// The same numbers in the same order; the shapes may differ in dimensions of 1.
  void same(std::string parameter, Shape shape, std::string source);
  void reshaped(std::string parameter, Shape shape, ForeignTensor source);
  /// `shape` is (out, in), the source (in, out).
  void transposed(std::string parameter, Shape shape, std::string source);
  /// One source below the other.
  void stacked(std::string parameter, Shape shape, std::vector<ForeignTensor> sources);
  /// The same, but files may have cut the rows in other places; `sources` say where by rights.
  void joined(std::string parameter, Shape shape, std::vector<ForeignTensor> sources);
  void add(TensorRule rule) { list.push_back(std::move(rule)); }
  /// Takes the cuts of joined() from a file: `rowsOf` says how many rows a tensor has there, or
  /// nothing. Cuts that do not add up stay as they are.
  void cutAs(const std::function<std::optional<int64_t>(const std::string &)> &rowsOf);

  const std::vector<TensorRule> &rules() const { return list; }

private:
  std::vector<TensorRule> list;
};

/// The parameter's bytes from its sources', numbers of `width` bytes.
std::vector<std::byte> gather(const TensorRule &rule,
                              std::span<const std::vector<std::byte>> sources, size_t width);
/// The sources' bytes from the parameter's: what gather() was given.
std::vector<std::vector<std::byte>> scatter(const TensorRule &rule,
                                            std::span<const std::byte> parameter, size_t width);

} // namespace hybrid::rt::exchange
