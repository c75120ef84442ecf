//===- Iota.cpp - numbers in equal steps ------------------------------------===//
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

/// The numbers are data of the executable.
static constexpr int64_t mostBytes = int64_t(1) << 28;

template <> LogicalResult lower(IotaOp op, ProgramBuilder &program) {
  int64_t count = shapeOf(op.getResult())[0];
  Type element = elementOf(op.getResult());
  if (count > mostBytes / bytesOf(element))
    return op.emitError() << "length is " << count << ": an executable holds at most "
                          << mostBytes / bytesOf(element) << " equally spaced numbers of "
                          << element;
  double start = op.getStart().convertToDouble(), step = op.getStep().convertToDouble();
  std::vector<char> bytes(count * bytesOf(element));
  for (int64_t i = 0; i < count; ++i) {
    double value = start + static_cast<double>(i) * step;
    if (element.isF64())
      reinterpret_cast<double *>(bytes.data())[i] = value;
    else
      reinterpret_cast<float *>(bytes.data())[i] = static_cast<float>(value);
  }
  program.alias(op.getResult(), program.constant({count}, element, bytes));
  return success();
}

} // namespace hybrid
