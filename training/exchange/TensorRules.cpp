//===- TensorRules.cpp - which of their tensors make which of ours ------------===//
#include "training/exchange/TensorRules.h"
#include "runtime/files/ElementCount.h"
#include <cstring>

namespace hybrid::rt::exchange {
namespace {

/// Moves numbers of a matrix [rows, columns] to where its transpose has them.
void transpose(std::span<const std::byte> from, std::span<std::byte> to, size_t rows,
               size_t columns, size_t width) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      std::memcpy(&to[(j * rows + i) * width], &from[(i * columns + j) * width], width);
}

size_t rowBytes(const ForeignTensor &tensor, size_t width) {
  return static_cast<size_t>(elementCount(tensor.shape) / tensor.shape[0]) * width;
}

} // namespace

void TensorRules::same(std::string parameter, Shape shape, std::string source) {
  ForeignTensor tensor{std::move(source), shape};
  stacked(std::move(parameter), std::move(shape), {std::move(tensor)});
}

void TensorRules::reshaped(std::string parameter, Shape shape, ForeignTensor source) {
  stacked(std::move(parameter), std::move(shape), {std::move(source)});
}

void TensorRules::transposed(std::string parameter, Shape shape, std::string source) {
  ForeignTensor tensor{std::move(source), {shape[1], shape[0]}};
  add({std::move(parameter), std::move(shape), {std::move(tensor)}, {}, true});
}

void TensorRules::joined(std::string parameter, Shape shape, std::vector<ForeignTensor> sources) {
  stacked(std::move(parameter), std::move(shape), std::move(sources));
  list.back().cutAnywhere = true;
}

void TensorRules::cutAs(const std::function<std::optional<int64_t>(const std::string &)> &rowsOf) {
  for (TensorRule &rule : list) {
    if (!rule.cutAnywhere)
      continue;
    std::vector<int64_t> rows;
    int64_t sum = 0;
    for (const ForeignTensor &source : rule.sources) {
      const int64_t own = rowsOf(source.name).value_or(0);
      // Each may be no more than all: a sum of what a file says could overflow.
      if (own < 1 || own > rule.shape[0])
        break;
      rows.push_back(own);
      sum += own;
    }
    if (rows.size() != rule.sources.size() || sum != rule.shape[0])
      continue;
    for (size_t i = 0; i < rows.size(); ++i)
      rule.sources[i].shape[0] = rule.pieces[i].rows = rows[i];
  }
}

void TensorRules::stacked(std::string parameter, Shape shape, std::vector<ForeignTensor> sources) {
  TensorRule rule{std::move(parameter), std::move(shape), std::move(sources), {}, false};
  for (size_t i = 0; i < rule.sources.size(); ++i)
    rule.pieces.push_back({i, 0, rule.sources[i].shape[0]});
  add(std::move(rule));
}

std::vector<std::byte> gather(const TensorRule &rule,
                              std::span<const std::vector<std::byte>> sources, size_t width) {
  std::vector<std::byte> result(static_cast<size_t>(elementCount(rule.shape)) * width);
  if (rule.transposed) {
    transpose(sources[0], result, static_cast<size_t>(rule.shape[1]),
              static_cast<size_t>(rule.shape[0]), width);
    return result;
  }
  size_t at = 0;
  for (const RowRange &piece : rule.pieces) {
    const size_t row = rowBytes(rule.sources[piece.source], width);
    const size_t bytes = static_cast<size_t>(piece.rows) * row;
    std::memcpy(result.data() + at,
                sources[piece.source].data() + static_cast<size_t>(piece.first) * row, bytes);
    at += bytes;
  }
  return result;
}

std::vector<std::vector<std::byte>> scatter(const TensorRule &rule,
                                            std::span<const std::byte> parameter, size_t width) {
  std::vector<std::vector<std::byte>> sources;
  for (const ForeignTensor &source : rule.sources)
    sources.emplace_back(static_cast<size_t>(elementCount(source.shape)) * width);
  if (rule.transposed) {
    transpose(parameter, sources[0], static_cast<size_t>(rule.shape[0]),
              static_cast<size_t>(rule.shape[1]), width);
    return sources;
  }
  size_t at = 0;
  for (const RowRange &piece : rule.pieces) {
    const size_t row = rowBytes(rule.sources[piece.source], width);
    const size_t bytes = static_cast<size_t>(piece.rows) * row;
    std::memcpy(sources[piece.source].data() + static_cast<size_t>(piece.first) * row,
                parameter.data() + at, bytes);
    at += bytes;
  }
  return sources;
}

} // namespace hybrid::rt::exchange
