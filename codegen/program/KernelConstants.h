//===- KernelConstants.h - the constants that specialise a kernel -----------===//
#pragma once
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdint>
#include <cstring>
#include <string>

namespace hybrid {

/// A parameter struct of a kernel (codegen/kernels/Kernels.h): its words for code generators that
/// pass it as data, and its text for those that write it into a source.
struct KernelConstants {
  llvm::SmallVector<int64_t> words; // every field is 8 bytes wide: int64_t or double
  std::string text;                 // "RmsNormParams{.rows = 4096, .columns = 128}"
};

namespace detail {
/// Collects what __builtin_dump_struct says of a struct: fields that are 0 are left out.
struct FieldPrinter {
  std::string fields;

  void field(const char *name, int64_t value) { append(name, std::to_string(value), value != 0); }
  void field(const char *name, double value) {
    append(name, llvm::formatv("{0:e16}", value).str(), value != 0);
  }
  void append(llvm::StringRef name, llvm::StringRef value, bool written) {
    if (written)
      fields += (llvm::Twine(fields.empty() ? "." : ", .") + name + " = " + value).str();
  }
};
inline void printField(FieldPrinter &, const char *) {}
template <typename T> void printField(FieldPrinter &, const char *, T &&) {}
template <typename T>
void printField(FieldPrinter &printer, const char *, const char * /*indent*/, const char * /*type*/,
                const char *name, T value) {
  if constexpr (std::is_enum_v<T>)
    printer.append(
        name, (llvm::getTypeName<T>() + "(").str() + std::to_string(int64_t(value)) + ")", true);
  else
    printer.field(name, value);
}
} // namespace detail

template <typename Params> KernelConstants wordsOf(const Params &params) {
  static_assert(sizeof(Params) % 8 == 0);
  KernelConstants result;
  result.words.resize(sizeof(Params) / 8);
  std::memcpy(result.words.data(), &params, sizeof(Params));
#if __has_builtin(__builtin_dump_struct)
  detail::FieldPrinter printer;
  __builtin_dump_struct(&params, detail::printField, printer);
  result.text =
      (llvm::getTypeName<Params>().rsplit("::").second + "{" + printer.fields + "}").str();
#else
#error "naming the constants of kernels takes clang"
#endif
  return result;
}

} // namespace hybrid
