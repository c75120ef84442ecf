//===- Diagnostics.cpp - errors for people ------------------------------------===//
#include "frontends/dsl/Diagnostics.h"
#include "executable/NearestName.h"

using namespace mlir;

namespace hybrid::dsl {

Location Diagnostics::location(Place place) const {
  Location loc = sources.location(&context, place);
  // The deepest sixteen calls say enough; a runaway recursion has many more.
  size_t first = calls.size() > 16 ? calls.size() - 16 : 0;
  Location caller = loc;
  bool any = false;
  for (size_t i = first; i < calls.size(); ++i) {
    Location call = sources.location(&context, calls[i]);
    caller = any ? CallSiteLoc::get(call, caller) : call;
    any = true;
  }
  return any ? Location(CallSiteLoc::get(loc, caller)) : loc;
}

Fault Diagnostics::error(Place place, const llvm::Twine &message, ArrayRef<Note> notes) {
  if (count >= limit || !said.insert({{place.file, place.offset}, message.str()}).second)
    return {};
  InFlightDiagnostic diagnostic = emitError(location(place)) << message;
  for (const Note &note : notes)
    if (note.place.file != place.file ||
        note.place.offset != place.offset) // it would say nothing new
      diagnostic.attachNote(sources.location(&context, note.place)) << note.text;
  if (++count == limit)
    diagnostic.attachNote(sources.location(&context, place)) << "too many errors, stopping here";
  return {};
}

std::string nearest(llvm::StringRef name, ArrayRef<std::string> candidates) {
  return nearestName(name, std::span(candidates.data(), candidates.size()));
}

std::string didYouMean(llvm::StringRef name, ArrayRef<std::string> candidates) {
  std::string best = nearest(name, candidates);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

} // namespace hybrid::dsl
