//===- KernelConstants.h - the constants that specialise a kernel -----------===//
#pragma once
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TypeName.h"
#include <cstdint>
#include <cstring>
#include <string>

namespace hybrid {

/// A parameter struct of a kernel (codegen/kernels/Kernel.h): its words for code generators that
/// pass it as data, and its text for those that write it into a source.
struct KernelConstants {
  llvm::SmallVector<int64_t> words; // every field is 8 bytes wide: int64_t or double
  std::string text;                 // "RmsNormParams{.rows = 4096, .columns = 128}"
  std::string contract;             // "RmsNorm": the name of its files
};

namespace detail {
inline std::string fieldText(int64_t value) { return std::to_string(value); }
inline std::string fieldText(double value) { return llvm::formatv("{0:e16}", value); }
template <typename Enum> std::string fieldText(Enum value) {
  return (llvm::getTypeName<Enum>() + "(").str() + std::to_string(int64_t(value)) + ")";
}
} // namespace detail

/// Fields that are 0 are left out of the text.
template <typename Params> KernelConstants wordsOf(const Params &params) {
  KernelConstants result;
  result.words.resize(sizeof(Params) / 8);
  std::memcpy(result.words.data(), &params, sizeof(Params));
  std::string fields;
  params.visitFields([&](llvm::StringRef names, const auto &...values) {
    static_assert(sizeof...(values) * 8 == sizeof(Params), "HYBRID_FIELDS names every field");
    auto add = [&](const auto &value) {
      auto [name, rest] = names.split(',');
      names = rest;
      bool written = true;
      if constexpr (!std::is_enum_v<std::decay_t<decltype(value)>>)
        written = value != 0;
      if (written)
        fields +=
            ((fields.empty() ? "." : ", .") + name.trim() + " = ").str() + detail::fieldText(value);
    };
    (add(values), ...);
  });
  result.text = (llvm::getTypeName<Params>().rsplit("::").second + "{" + fields + "}").str();
  result.contract = llvm::sys::path::stem(Params::contractFile()).str();
  return result;
}

/// What a contract decides for the device and an element type: Decision::onCpu<T>(arguments...) or
/// Decision::onCuda<T>(arguments...).
template <typename Decision, typename T, typename... Arguments>
auto decide(bool onCpu, Arguments &&...arguments) {
  constexpr bool cpu = requires { Decision::template onCpu<T>(arguments...); };
  if constexpr (!cpu) {
    if (onCpu)
      llvm::report_fatal_error("internal error: a kernel that the CPU has not, please report");
    return Decision::template onCuda<T>(arguments...);
  } else if constexpr (!requires { Decision::template onCuda<T>(arguments...); }) {
    if (!onCpu)
      llvm::report_fatal_error("internal error: a kernel that CUDA has not, please report");
    return Decision::template onCpu<T>(arguments...);
  } else {
    return onCpu ? Decision::template onCpu<T>(arguments...)
                 : Decision::template onCuda<T>(arguments...);
  }
}

} // namespace hybrid
