//===- ExpandLongConvolutions.cpp - convolutions as transforms --------------===//
//
// For devices whose kernels have a longest sequence, where a library has transforms of any length.
// A length without large prime factors is fast there, and twice the sequence need not become a
// power of two.
//
//===----------------------------------------------------------------------===//
#include "dialect/Gradients.h"
#include "executable/TransformMemory.h"
#include "passes/Passes.h"

namespace hybrid {
#define GEN_PASS_DEF_EXPANDLONGCONVOLUTIONS
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

class Expansion {
public:
  explicit Expansion(FFTConvOp op)
      : op(op), builder(op), e{builder, op.getLoc()}, batch(shapeOf(op.getX())[0]),
        length(shapeOf(op.getX())[1]), channels(shapeOf(op.getX())[2]),
        taps(shapeOf(op.getFilter())[0]), points(nextSmooth(length + taps - 1)) {}

  Value run() {
    Value w = op.getX();
    if (op.getGateIn())
      w = e.mul(w, op.getGateIn());
    const int64_t bins = points / 2 + 1;
    auto [filterRe, filterIm] = transform(op.getFilter(), {bins, 1, channels});
    auto [re, im] =
        transform(e.reshape(exchanged(w), {length, batch * channels}), {bins, batch, channels});
    auto flat = [&](Value x) { return e.reshape(x, {bins, batch * channels}); };
    Value y = IrfftOp::create(
        builder, op.getLoc(), flat(e.sub(e.mul(re, filterRe), e.mul(im, filterIm))),
        flat(e.add(e.mul(re, filterIm), e.mul(im, filterRe))), points, /*weighted=*/true);
    y = SliceOp::create(builder, op.getLoc(), y, builder.getDenseI64ArrayAttr({0, 0}),
                        shapeAttr(builder.getContext(), {length, batch * channels}));
    y = exchanged(e.reshape(y, {length, batch, channels}));
    if (op.getSkip())
      y = e.add(y, e.mul(w, op.getSkip()));
    return op.getGateOut() ? e.mul(y, op.getGateOut()) : y;
  }

private:
  /// Of columns [rows, columns], padded.
  std::pair<Value, Value> transform(Value x, ArrayRef<int64_t> shape) {
    const int64_t columns = shapeOf(x)[1];
    Value padded = PadOp::create(builder, op.getLoc(), x, builder.getDenseI64ArrayAttr({0, 0}),
                                 shapeAttr(builder.getContext(), {points, columns}));
    auto spectrum = RfftOp::create(builder, op.getLoc(), padded, /*weighted=*/false);
    return {e.reshape(spectrum.getRe(), shape), e.reshape(spectrum.getIm(), shape)};
  }
  /// Positions and sequences of [batch, length, channels], or back.
  Value exchanged(Value x) {
    if (batch == 1) {
      SmallVector<int64_t> shape(shapeOf(x));
      std::swap(shape[0], shape[1]);
      return e.reshape(x, shape);
    }
    return TransposeOp::create(builder, op.getLoc(), x, builder.getDenseI64ArrayAttr({1, 0, 2}));
  }

  FFTConvOp op;
  OpBuilder builder;
  ExpressionBuilder e;
  const int64_t batch, length, channels, taps, points;
};

struct ExpandLongConvolutions : hybrid::impl::ExpandLongConvolutionsBase<ExpandLongConvolutions> {
  using ExpandLongConvolutionsBase::ExpandLongConvolutionsBase;
  void runOnOperation() override {
    SmallVector<FFTConvOp> found;
    getOperation().walk([&](FFTConvOp op) {
      const bool isPlain = !op.getSegments() && !op.getInitialState() && !op.getReturnState();
      if (isPlain && shapeOf(op.getX())[1] + shapeOf(op.getFilter())[0] - 1 > longest)
        found.push_back(op);
    });
    for (FFTConvOp op : found) {
      Value y = Expansion(op).run();
      op.getResult().replaceAllUsesWith(y);
      op.erase();
    }
    numExpanded += found.size();
  }
};

} // namespace
