//===- StepProducts.cpp - matrix products within a step ----------------------===//
//
// A block of rows by a vector of columns is summed up in registers: a vector of the weights is read
// once for all rows of the block. Where columns do not lie side by side, element by element.
//
//===----------------------------------------------------------------------===//
#include "codegen/loops/StepEmitter.h"
#include "codegen/program/IterationSpace.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace hybrid::loops {

/// Rows of a block: with a vector of 64 bytes each, sums that registers of any target hold.
constexpr int64_t blockRows = 8;
constexpr int64_t vectorBytes = 64;

/// c[m, n] = Σ_k a[m, k] w[k, n] (+ bias[n]) at the offsets of a loop around it.
struct StepEmitter::Product {
  Value aMemory, wMemory, biasMemory, cMemory; // bias: null without
  Value a, w, bias, c;
  int64_t m, k, n, aRow, aInner, wInner, wColumn, cRow, cColumn, biasColumn;
};

void StepEmitter::emitLinear(LinearOp op) {
  Place x = places.lookup(op.getX()), w = places.lookup(op.getWeight()),
        y = places.lookup(op.getResult());
  w.view = w.view.transposed({0, 2, 1});
  if (!op.getBias())
    return multiply(x, w, y, nullptr);
  Place bias = places.lookup(op.getBias());
  multiply(x, w, y, &bias);
}

void StepEmitter::emitMatmul(MatmulOp op) {
  Place a = places.lookup(op.getA()), w = places.lookup(op.getB()),
        c = places.lookup(op.getResult());
  if (op.getTransposeB())
    w.view = w.view.transposed({0, 2, 1});
  if (op.getTransposeA()) { // what is in front of the columns is contracted
    auto flat = [&](Value value) {
      const int64_t columns = shapeOf(value).back();
      return reshaped(places.lookup(value), {elementCount(value) / columns, columns});
    };
    a = flat(op.getA()), w = flat(op.getB());
    a.view = a.view.transposed({0, 2, 1});
  }
  multiply(a, w, c, nullptr);
}

void StepEmitter::multiply(const Place &a, const Place &w, const Place &c, const Place *bias) {
  // Loops are all dimensions but the contracted one and the columns; w has the rows alone.
  auto leading = [](const View &view, size_t behind) {
    View result = view;
    result.offset = 0;
    result.shape.truncate(view.shape.size() - behind);
    result.strides.truncate(view.shape.size() - behind);
    return result;
  };
  View aLoops = leading(a.view, 1), cLoops = leading(c.view, 1), wLoops = leading(w.view, 2),
       biasLoops = bias ? leading(bias->view, 1) : wLoops;
  for (View *view : {&wLoops, &biasLoops})
    while (view->shape.size() < aLoops.shape.size()) {
      view->shape.push_back(aLoops.shape[view->shape.size()]);
      view->strides.push_back(0);
    }
  IterationSpace space = collapse(aLoops.shape, {aLoops, wLoops, biasLoops, cLoops});
  Product product;
  product.aMemory = a.view.buffer, product.wMemory = w.view.buffer;
  product.cMemory = c.view.buffer, product.biasMemory = bias ? bias->view.buffer : Value();
  const size_t columns = c.view.shape.size() - 1, wRank = w.view.shape.size();
  product.k = a.view.shape.back(), product.n = c.view.shape[columns];
  product.aInner = a.view.strides.back();
  product.wInner = w.view.strides[wRank - 2], product.wColumn = w.view.strides[wRank - 1];
  product.cColumn = c.view.strides[columns];
  product.biasColumn = bias ? bias->view.strides.back() : 0;
  const Value starts[] = {at(a), at(w), bias ? at(*bias) : kernel.index(0), at(c)};
  if (kernel.workers == Workers::Block || product.wColumn != 1 || product.cColumn != 1) {
    space.shape.push_back(product.n);
    const int64_t strides[] = {0, product.wColumn, product.biasColumn, product.cColumn};
    for (auto [ofView, stride] : llvm::zip_equal(space.strides, strides))
      ofView.push_back(stride);
    return multiplyElements(product, space, starts);
  }
  // Rows that share their weights are a block; the others are a loop.
  const size_t last = space.shape.size() - 1;
  const bool shared = space.strides[1][last] == 0 && space.strides[2][last] == 0;
  product.m = shared ? space.shape[last] : 1;
  product.aRow = shared ? space.strides[0][last] : 0;
  product.cRow = shared ? space.strides[3][last] : 0;
  forIndices(space, last + !shared, starts, [&](ArrayRef<Value> offsets) {
    product.a = offsets[0], product.w = offsets[1], product.bias = offsets[2];
    product.c = offsets[3];
    int64_t width = vectorBytes / bytesOf(c.view.element);
    for (int64_t column = 0; column < product.n;) {
      while (width > product.n - column)
        width /= 2;
      const int64_t count = (product.n - column) / width;
      // Vectors of one width follow one another in a loop.
      kernel.forCount(count, [&](Value i) {
        Product part = product;
        Value first = kernel.add(kernel.scaled(i, width), kernel.index(column));
        part.w = kernel.add(part.w, first), part.c = kernel.add(part.c, first);
        if (part.biasMemory)
          part.bias = kernel.add(part.bias, kernel.scaled(first, part.biasColumn));
        multiplyVectors(part, width);
      });
      column += count * width;
    }
  });
}

void StepEmitter::multiplyVectors(const Product &product, int64_t width) {
  Type element = cast<MemRefType>(product.cMemory.getType()).getElementType();
  auto type = VectorType::get({width}, element);
  auto flags = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
  auto block = [&](Value first, int64_t count) {
    SmallVector<Value> sums, a;
    for (int64_t r = 0; r < count; ++r) {
      if (!product.biasMemory)
        sums.push_back(
            arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getFloatAttr(element, 0))));
      else if (product.biasColumn == 1)
        sums.push_back(vector::LoadOp::create(b, type, product.biasMemory, product.bias));
      else // one number for all columns
        sums.push_back(vector::BroadcastOp::create(
            b, type, memref::LoadOp::create(b, product.biasMemory, product.bias)));
      Value row = kernel.add(first, kernel.index(r));
      a.push_back(kernel.add(product.a, kernel.scaled(row, product.aRow)));
    }
    auto loop = scf::ForOp::create(b, kernel.index(0), kernel.index(product.k), kernel.index(1),
                                   ValueRange(sums));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value k = loop.getInductionVar();
      Value weights = vector::LoadOp::create(
          b, type, product.wMemory, kernel.add(product.w, kernel.scaled(k, product.wInner)));
      SmallVector<Value> next;
      for (int64_t r = 0; r < count; ++r) {
        Value number = memref::LoadOp::create(b, product.aMemory,
                                              kernel.add(a[r], kernel.scaled(k, product.aInner)));
        Value factor = vector::BroadcastOp::create(b, type, number);
        Value term = arith::MulFOp::create(b, factor, weights, flags);
        next.push_back(arith::AddFOp::create(b, loop.getRegionIterArg(r), term, flags));
      }
      scf::YieldOp::create(b, next);
    }
    for (int64_t r = 0; r < count; ++r) {
      Value row = kernel.add(first, kernel.index(r));
      vector::StoreOp::create(b, loop.getResult(r), product.cMemory,
                              kernel.add(product.c, kernel.scaled(row, product.cRow)));
    }
  };
  const int64_t blocks = product.m / blockRows, rest = product.m % blockRows;
  if (blocks)
    kernel.forCount(blocks, [&](Value i) { block(kernel.scaled(i, blockRows), blockRows); });
  if (rest)
    block(kernel.index(blocks * blockRows), rest);
}

void StepEmitter::multiplyElements(const Product &product, const IterationSpace &space,
                                   ArrayRef<Value> starts) {
  Type element = cast<MemRefType>(product.cMemory.getType()).getElementType();
  auto flags = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::reassoc |
                                                                 arith::FastMathFlags::contract);
  forIndices(space, space.shape.size(), starts, [&](ArrayRef<Value> offsets) {
    Value zero = arith::ConstantOp::create(b, b.getFloatAttr(element, 0));
    Value sum = kernel.fold(product.k, zero, [&](Value k, Value sum) -> Value {
      Value left = memref::LoadOp::create(b, product.aMemory,
                                          kernel.add(offsets[0], kernel.scaled(k, product.aInner)));
      Value right = memref::LoadOp::create(
          b, product.wMemory, kernel.add(offsets[1], kernel.scaled(k, product.wInner)));
      Value term = arith::MulFOp::create(b, left, right, flags);
      return arith::AddFOp::create(b, sum, term, flags);
    });
    if (product.biasMemory)
      sum =
          arith::AddFOp::create(b, sum, memref::LoadOp::create(b, product.biasMemory, offsets[2]));
    memref::StoreOp::create(b, sum, product.cMemory, offsets[3]);
  });
}

} // namespace hybrid::loops
