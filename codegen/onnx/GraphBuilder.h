//===- GraphBuilder.h - nodes of an ONNX graph ------------------------------===//
//
// Writes the nodes of opset 20. All shapes are known: a tensor carries its own, helpers say what
// shape comes out, and what another exporter would compute at run time (sizes, positions) is a
// constant.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace hybrid::onnx {

class GraphProto;

/// Types of elements, by ONNX's numbers.
enum class Element : int32_t { F32 = 1, I32 = 6, I64 = 7, Bool = 9, F64 = 11 };

int64_t bytesOf(Element element);

/// A value of a graph. Without a name: an input that is left out.
struct Tensor {
  std::string name;
  llvm::SmallVector<int64_t> shape;
  Element element = Element::F32;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};

struct Attribute {
  llvm::StringRef name;
  std::variant<int64_t, float, std::string, llvm::SmallVector<int64_t>> value;
};

/// What a step of a scan leaves: the states for the next one, and its own results.
struct ScanStep {
  llvm::SmallVector<Tensor> states, results;
};
using ScanBody =
    llvm::function_ref<ScanStep(llvm::ArrayRef<Tensor> states, llvm::ArrayRef<Tensor> slices)>;

class GraphBuilder {
public:
  /// `number`: the type of the program's floating point numbers.
  GraphBuilder(llvm::StringRef name, Element number);
  ~GraphBuilder();
  std::unique_ptr<GraphProto> take();
  Element number() const { return real; }

  //===-- what the graph takes and gives -------------------------------------===//
  Tensor input(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, Element element);
  void output(llvm::StringRef name, const Tensor &value);
  /// A stored tensor of `bytes`, row-major: a weight, for programs that train what they read.
  Tensor stored(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, Element element,
                std::string bytes);
  /// The same with its bytes in a file beside the model, from `offset` on.
  Tensor storedBeside(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, Element element,
                      llvm::StringRef file, uint64_t offset);
  /// The same as a node Constant, which is never trained.
  Tensor held(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, Element element,
              std::string bytes);

  //===-- constants, one of each value ----------------------------------------===//
  Tensor constant(double value);
  Tensor constant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values);
  Tensor integers(llvm::ArrayRef<int64_t> values, Element element = Element::I64);
  Tensor integer(int64_t value, Element element = Element::I64);
  /// `value` everywhere.
  Tensor full(double value, llvm::ArrayRef<int64_t> shape);

  //===-- nodes ------------------------------------------------------------------===//
  /// A node of one result.
  Tensor node(llvm::StringRef op, llvm::ArrayRef<Tensor> inputs, llvm::ArrayRef<int64_t> shape,
              Element element, llvm::ArrayRef<Attribute> attributes = {});
  /// A node of several; `results` get their names.
  void node(llvm::StringRef op, llvm::ArrayRef<Tensor> inputs,
            llvm::MutableArrayRef<Tensor> results, llvm::ArrayRef<Attribute> attributes = {});
  /// Of one tensor, element by element.
  Tensor elementwise(llvm::StringRef op, const Tensor &x,
                     llvm::ArrayRef<Attribute> attributes = {});
  /// Of two tensors that broadcast.
  Tensor elementwise(llvm::StringRef op, const Tensor &a, const Tensor &b);
  Tensor compare(llvm::StringRef op, const Tensor &a, const Tensor &b);
  Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b);
  Tensor cast(const Tensor &x, Element element);
  Tensor reshape(const Tensor &x, llvm::ArrayRef<int64_t> shape);
  Tensor transpose(const Tensor &x, llvm::ArrayRef<int64_t> permutation);
  Tensor expand(const Tensor &x, llvm::ArrayRef<int64_t> shape);
  /// Elements from `start` on of one axis, `size` of them.
  Tensor slice(const Tensor &x, int64_t axis, int64_t start, int64_t size);
  Tensor reverse(const Tensor &x, int64_t axis);
  Tensor concat(llvm::ArrayRef<Tensor> parts, int64_t axis);
  /// ReduceSum and its like; the axes are kept with size 1 or removed.
  Tensor reduce(llvm::StringRef op, const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keep);
  /// The product of the last two dimensions, the others broadcast.
  Tensor matmul(const Tensor &a, const Tensor &b);
  /// The product of two matrices, with an optional row added to each row.
  Tensor gemm(const Tensor &a, const Tensor &b, const Tensor &bias, bool transposeA,
              bool transposeB);

  /// Runs `body` for each element of the first dimension of `sequences`, one after another. Gives
  /// the last states and the results, joined along a first dimension.
  std::pair<llvm::SmallVector<Tensor>, llvm::SmallVector<Tensor>>
  scan(llvm::ArrayRef<Tensor> initial, llvm::ArrayRef<Tensor> sequences, ScanBody body);

private:
  std::string fresh(llvm::StringRef op);
  Tensor known(llvm::ArrayRef<int64_t> shape, Element element, std::string bytes);

  std::unique_ptr<GraphProto> outermost;
  GraphProto *graph; // that nodes go to: a scan's body, or the outermost
  Element real;
  int64_t count = 0;
  llvm::StringMap<Tensor> constants; // by type, shape and bytes
};

} // namespace hybrid::onnx
