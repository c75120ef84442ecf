//===- Diagnostics.h - errors for people --------------------------------------===//
#pragma once
#include "frontends/dsl/Source.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <set>

namespace hybrid::dsl {

/// What remains where an error was reported: nothing, of whatever class the caller returns (a value
/// is poisoned), so that `return diagnostics.error(...)` says it all.
struct Fault {
  template <typename Result>
    requires std::is_class_v<Result>
  operator Result() const {
    return Result();
  }
};

/// Emits errors at places, with notes, through the context's diagnostic engine; at most twenty a
/// run.
class Diagnostics {
public:
  Diagnostics(mlir::MLIRContext &context, SourceFiles &sources)
      : context(context), sources(sources) {}

  struct Note {
    Place place;
    std::string text;
  };

  Fault error(Place place, const llvm::Twine &message, llvm::ArrayRef<Note> notes = {});
  bool failed() const { return count > 0; }
  /// After this many errors nothing more is worth saying.
  bool full() const { return count >= limit; }

  /// Where the library is, for suggestions.
  std::vector<std::string> importPaths;

  /// The chain of layer calls being elaborated, innermost last: errors print it as "called from".
  std::vector<Place> calls;

  mlir::Location location(Place place) const;
  mlir::MLIRContext &context;
  SourceFiles &sources;

private:
  static constexpr int limit = 20;
  int count = 0;
  std::set<std::pair<std::pair<uint32_t, uint32_t>, std::string>>
      said; // a layer that is used twice has its faults once
};

/// The candidate most like `name`, or empty when none is close.
std::string nearest(llvm::StringRef name, llvm::ArrayRef<std::string> candidates);
/// "; did you mean 'X'?" or empty.
std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<std::string> candidates);

} // namespace hybrid::dsl
