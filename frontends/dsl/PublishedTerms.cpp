//===- PublishedTerms.cpp - FLOPs as papers count them, layer by layer --------===//
#include "frontends/dsl/PublishedTerms.h"
#include "dialect/HybridOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace mlir;

namespace hybrid::dsl {
namespace {

constexpr StringRef layerName = "hybrid.layer";
using Paths = std::set<std::string>;

StringRef text(DictionaryAttr noted, StringRef name) {
  return noted.getAs<StringAttr>(name).getValue();
}

/// Whether the layer at `path` is inside the one at `outer`, or it.
bool isInside(StringRef path, StringRef outer) {
  return outer.empty() || path == outer || (path.starts_with(outer) && path[outer.size()] == '.');
}

/// Of layers within one another that publish nothing, the outermost around `path`. Blocks are no
/// layers.
std::string outermostWithout(StringRef path, const Paths &published) {
  for (size_t end = path.find('.'); path.size() > 0; end = path.find('.', end + 1)) {
    StringRef outer = path.take_front(end), last = outer.substr(outer.rfind('.') + 1);
    const bool isBlock =
        last == "blocks" || llvm::all_of(last, [](char c) { return llvm::isDigit(c); });
    if (!isBlock &&
        llvm::none_of(published, [&](const std::string &other) { return isInside(other, outer); }))
      return outer.str();
    if (end == StringRef::npos)
      break;
  }
  return path.empty() ? "the model itself" : path.str();
}

} // namespace

// Papers count neither norms nor functions of single elements.
void noteLayer(Operation *op, StringRef path) {
  if (op->hasTrait<ProductFloatTypes>() || isa<StatefulOp>(op))
    op->setAttr(layerName, StringAttr::get(op->getContext(), path.rtrim('.')));
}

void writePublished(ModuleOp program, ArrayRef<Attribute> noted) {
  Builder b(program.getContext());
  std::map<std::string, Paths> publishing, alone; // by method: layers
  for (Attribute attribute : noted) {
    auto term = cast<DictionaryAttr>(attribute);
    const std::string method = text(term, "method").str();
    publishing[method].insert(text(term, "layer").str());
    if (term.contains("alone"))
      alone[method].insert(text(term, "layer").str());
  }
  SmallVector<Attribute> published;
  for (Attribute attribute : noted) {
    auto term = cast<DictionaryAttr>(attribute);
    StringRef layer = text(term, "layer");
    const Paths &instead = alone[text(term, "method").str()];
    if (!term.contains("alone") && llvm::none_of(instead, [&](const std::string &outer) {
          return layer != outer && isInside(layer, outer);
        }))
      published.push_back(term);
  }
  std::vector<std::string> counted; // layers, in the order of their ops
  program.walk([&](Operation *op) {
    if (auto layer = dyn_cast_or_null<StringAttr>(op->removeAttr(layerName)))
      if (counted.empty() || counted.back() != layer.getValue())
        counted.push_back(layer.str());
  });
  SmallVector<Attribute> without;
  for (const auto &[method, layers] : publishing) {
    Paths named;
    for (const std::string &path : counted) {
      if (llvm::any_of(layers, [&](const std::string &outer) { return isInside(path, outer); }))
        continue;
      if (std::string layer = outermostWithout(path, layers); named.insert(layer).second)
        without.push_back(b.getDictionaryAttr({b.getNamedAttr("layer", b.getStringAttr(layer)),
                                               b.getNamedAttr("method", b.getStringAttr(method))}));
    }
  }
  if (!published.empty())
    program->setAttr("hybrid.published", b.getArrayAttr(published));
  if (!without.empty())
    program->setAttr("hybrid.unpublished", b.getArrayAttr(without));
}

} // namespace hybrid::dsl
