//===- Cost.cpp - arithmetic of every op ------------------------------------===//
//
// FLOPs of one call; a multiply-add is two. Where the papers count otherwise than the kernels work
// (a causal half, FFT constants) the papers' number is given, as the formula says: MAD appendix
// C.4, Hyena appendix A.2.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include <cmath>

using namespace mlir;
using namespace hybrid;

static int64_t elements(Value value) { return elementCount(shapeOf(value)); }
static int64_t rowsOf(Value value) {
  return elements(value) / std::max<int64_t>(1, lastSize(value));
}

int64_t hybrid::bytesOfTensors(Operation *op) {
  int64_t bytes = 0;
  auto add = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      bytes += tensor.getNumElements() * ((tensor.getElementTypeBitWidth() + 7) / 8);
  };
  llvm::for_each(op->getOperandTypes(), add);
  llvm::for_each(op->getResultTypes(), add);
  return bytes;
}

int64_t LinearOp::getFlops() { return 2 * elements(getResult()) * shapeOf(getWeight())[1]; }
StringRef LinearOp::getFlopsFormula() { return "2·B·L·in·out"; }

int64_t MatmulOp::getFlops() {
  int64_t contracted = getTransposeA() ? rowsOf(getA()) : lastSize(getA());
  return 2 * elements(getResult()) * contracted;
}
StringRef MatmulOp::getFlopsFormula() { return "2·m·n·k"; }

int64_t RmsNormOp::getFlops() { return 4 * elements(getX()); }
StringRef RmsNormOp::getFlopsFormula() { return "4·B·L·D"; }
int64_t RmsNormGradOp::getFlops() { return 10 * elements(getX()); }
StringRef RmsNormGradOp::getFlopsFormula() { return "10·B·L·D"; }
int64_t LayerNormOp::getFlops() { return 7 * elements(getX()); }
StringRef LayerNormOp::getFlopsFormula() { return "7·B·L·D"; }
int64_t LayerNormGradOp::getFlops() { return 14 * elements(getX()); }
StringRef LayerNormGradOp::getFlopsFormula() { return "14·B·L·D"; }

int64_t EmbeddingOp::getFlops() { return 0; }
StringRef EmbeddingOp::getFlopsFormula() { return "0 (a gather)"; }
// The rows that are chosen, not the table.
int64_t EmbeddingOp::getBytesMoved() {
  auto bytes = [](Value value) {
    return elements(value) * (elementOf(value).getIntOrFloatBitWidth() / 8);
  };
  return bytes(getIds()) + 2 * bytes(getResult());
}
int64_t EmbeddingGradOp::getFlops() { return elements(getCotangent()); }
StringRef EmbeddingGradOp::getFlopsFormula() { return "B·L·D"; }

int64_t ShortConvOp::getFlops() { return 2 * elements(getX()) * shapeOf(getWeight())[1]; }
StringRef ShortConvOp::getFlopsFormula() { return "2·K·B·L·C"; }
int64_t ShortConvGradOp::getFlops() { return 4 * elements(getX()) * shapeOf(getWeight())[1]; }
StringRef ShortConvGradOp::getFlopsFormula() { return "4·K·B·L·C"; }

static int64_t convolutionFlops(Value x, int64_t gates) {
  double length = static_cast<double>(shapeOf(x)[1]);
  double signals = static_cast<double>(elements(x)) / length;
  return static_cast<int64_t>(signals * 10 * length * std::log2(std::max(2.0, length))) +
         gates * elements(x);
}
int64_t FFTConvOp::getFlops() {
  return convolutionFlops(getX(),
                          (getSkip() ? 2 : 0) + (getGateIn() ? 1 : 0) + (getGateOut() ? 1 : 0));
}
StringRef FFTConvOp::getFlopsFormula() { return "10·B·L·log2(L)·C + (2·skip + gates)·B·L·C"; }
int64_t FFTConvGradOp::getFlops() {
  return 2 * convolutionFlops(getX(),
                              (getSkip() ? 2 : 0) + (getGateIn() ? 1 : 0) + (getGateOut() ? 1 : 0));
}
StringRef FFTConvGradOp::getFlopsFormula() { return "20·B·L·log2(L)·C + (4·skip + 2·gates)·B·L·C"; }

static int64_t attentionFlops(Value q, Value k, int64_t heads) {
  ArrayRef<int64_t> shape = shapeOf(q);
  int64_t batch = shape[0], length = shape[1], width = shape[2], keys = shapeOf(k)[1];
  return batch * (4 * length * keys * width + 2 * heads * length * keys);
}
int64_t AttentionOp::getFlops() { return attentionFlops(getQ(), getK(), getHeads()); }
StringRef AttentionOp::getFlopsFormula() { return "B·(4·L²·D + 2·H·L²), no causal discount"; }
int64_t AttentionGradOp::getFlops() { return 2 * attentionFlops(getQ(), getK(), getHeads()); }
StringRef AttentionGradOp::getFlopsFormula() { return "B·(8·L²·D + 4·H·L²), no causal discount"; }

int64_t RoundOp::getFlops() { return elements(getResult()); }
StringRef RoundOp::getFlopsFormula() { return "elements"; }
int64_t UnaryOp::getFlops() { return elements(getResult()); }
StringRef UnaryOp::getFlopsFormula() { return "elements"; }
int64_t BinaryOp::getFlops() { return elements(getResult()); }
StringRef BinaryOp::getFlopsFormula() { return "elements"; }
int64_t ReduceOp::getFlops() { return elements(getX()); }
StringRef ReduceOp::getFlopsFormula() { return "elements of the operand"; }

int64_t TargetWeightOp::getFlops() { return elements(getTargets()); }
StringRef TargetWeightOp::getFlopsFormula() { return "B·L"; }
int64_t CrossEntropyOp::getFlops() { return 4 * elements(getLogits()); }
StringRef CrossEntropyOp::getFlopsFormula() { return "4·B·L·V"; }
int64_t CrossEntropyGradOp::getFlops() { return 4 * elements(getLogits()); }
StringRef CrossEntropyGradOp::getFlopsFormula() { return "4·B·L·V"; }

int64_t TopKOp::getFlops() { return elements(getX()) * static_cast<int64_t>(getK()); }
StringRef TopKOp::getFlopsFormula() { return "B·L·E·k comparisons"; }
int64_t TakeOp::getFlops() { return 0; }
StringRef TakeOp::getFlopsFormula() { return "0 (a gather)"; }
int64_t ScatterOp::getFlops() { return elements(getX()); }
StringRef ScatterOp::getFlopsFormula() { return "elements"; }
int64_t RouteOp::getFlops() { return 0; }
StringRef RouteOp::getFlopsFormula() { return "0 (a sort)"; }
int64_t DispatchOp::getFlops() { return 0; }
StringRef DispatchOp::getFlopsFormula() { return "0 (a gather)"; }
int64_t CollectOp::getFlops() { return 0; }
StringRef CollectOp::getFlopsFormula() { return "0 (a gather)"; }
// Every row goes through one expert, whichever it is.
int64_t GroupedLinearOp::getFlops() { return 2 * elements(getResult()) * lastSize(getX()); }
StringRef GroupedLinearOp::getFlopsFormula() { return "2·B·L·k·in·out"; }
// A token meets the weights of the experts that it chose.
int64_t GroupedLinearOp::getActiveElements(OpOperand &operand) {
  int64_t all = elements(operand.get());
  auto route = getOffsets().getDefiningOp<RouteOp>();
  if (operand.get() != getWeight() || !route)
    return all;
  int64_t experts = route.getExperts();
  return all / experts * std::min(lastSize(route.getChoices()), experts);
}
int64_t GroupedLinearGradOp::getFlops() { return 2 * elements(getX()) * lastSize(getCotangent()); }
StringRef GroupedLinearGradOp::getFlopsFormula() { return "2·B·L·k·in·out"; }

// Three complex transforms of the next power of two above 2N (Bluestein).
static int64_t transformFlops(int64_t length, int64_t columns) {
  double size = 4.0 * static_cast<double>(length);
  return static_cast<int64_t>(15 * size * std::log2(size)) * columns;
}
int64_t RfftOp::getFlops() { return transformFlops(shapeOf(getX())[0], lastSize(getX())); }
StringRef RfftOp::getFlopsFormula() { return "60·N·log2(4N)·C"; }
int64_t IrfftOp::getFlops() {
  return transformFlops(static_cast<int64_t>(getLength()), lastSize(getRe()));
}
StringRef IrfftOp::getFlopsFormula() { return "60·N·log2(4N)·C"; }
int64_t ModalFilterOp::getFlops() { return 8 * elements(getRe()) * shapeOf(getResult())[0]; }
StringRef ModalFilterOp::getFlopsFormula() { return "8·S·L·C"; }
int64_t ModalFilterGradOp::getFlops() {
  return 14 * elements(getRe()) * shapeOf(getCotangent())[0];
}
StringRef ModalFilterGradOp::getFlopsFormula() { return "14·S·L·C"; }
