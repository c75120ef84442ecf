//===- FreeSizes.cpp - numbers in place of free dimensions --------------------===//
#include "frontends/dsl/FreeSizes.h"
#include "llvm/ADT/StringExtras.h"

namespace hybrid::dsl {
namespace {

struct FreeSize {
  llvm::StringLiteral name;
  int64_t numbers[freeSizeSets];
};
constexpr FreeSize freeSizes[] = {{"B", {16777259, 34603013}}, {"L", {17825803, 33554467}}};

/// Sums with a known size stay far from the next number.
constexpr int64_t farthest = int64_t(1) << 18;

} // namespace

int64_t standIn(const Dim &dim, size_t set) {
  if (!dim.isFree())
    return dim.size;
  for (const FreeSize &size : freeSizes)
    if (size.name == dim.name)
      return size.numbers[set] + dim.size;
  llvm_unreachable("B and L are the only free dimensions");
}

std::optional<Dim> sizeOf(int64_t first, int64_t second) {
  if (first == second)
    return Dim(first);
  for (const FreeSize &size : freeSizes)
    if (first - size.numbers[0] == second - size.numbers[1] &&
        std::abs(first - size.numbers[0]) < farthest)
      return Dim::free(size.name).plus(first - size.numbers[0]);
  return std::nullopt;
}

std::optional<Dim> productOf(llvm::ArrayRef<Dim> dims) {
  Dim all(1);
  for (const Dim &dim : dims) {
    if (dim.isOne())
      continue;
    if (!all.isOne() && (dim.isFree() || all.isFree()))
      return std::nullopt;
    all = dim.isFree() ? dim : Dim(all.size * dim.size);
  }
  return all;
}

Dim freeSize(llvm::StringRef text) {
  auto [name, more] = text.split(' ');
  int64_t added = 0;
  const bool less = more.consume_front("- ");
  if (!less)
    more.consume_front("+ ");
  more.getAsInteger(10, added);
  return Dim::free(name).plus(less ? -added : added);
}

std::string withNames(llvm::StringRef text, size_t set) {
  std::string result;
  while (!text.empty()) {
    size_t first = std::min(text.find_first_of("0123456789"), text.size());
    result += text.take_front(first);
    text = text.drop_front(first);
    llvm::StringRef digits = text.take_while([](char c) { return llvm::isDigit(c); });
    text = text.drop_front(digits.size());
    int64_t number = 0, apart = farthest;
    bool isNumber = !digits.getAsInteger(10, number);
    const FreeSize *found = nullptr;
    for (const FreeSize &size : freeSizes)
      if (isNumber && std::abs(number - size.numbers[set]) < farthest) {
        found = &size;
        apart = number - size.numbers[set];
      }
    result += found ? llvm::StringRef(found->name) : digits;
    if (found && apart != 0)
      result += (apart < 0 ? " - " : " + ") + std::to_string(std::abs(apart));
  }
  return result;
}

} // namespace hybrid::dsl
