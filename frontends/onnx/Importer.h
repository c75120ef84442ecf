//===- Importer.h - values and nodes of a graph that is being imported -----------===//
//
// A table from ONNX's operators to functions, filled family by family. A value is a tensor of the
// program, or known when compiling, or a stored weight that becomes a parameter as soon as it is
// used. Booleans, and integers that are computed at run time, are numbers in the dialect.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "frontends/onnx/Import.h"
#include "frontends/onnx/Ops.h"
#include "llvm/ADT/DenseMap.h"

namespace hybrid::onnx {
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
class ValueInfoProto;
} // namespace hybrid::onnx

namespace hybrid::onnx::frontend {

struct Value {
  mlir::Value tensor; ///< null while it is only known, or a weight
  KnownPtr known;     ///< what it holds, where that is known when compiling
  int weight = -1;    ///< its number among the weights
  DataType type = DataType::F32;
  Shape shape;
  int64_t below = 0;               ///< of ids: all are below this; 0: nobody knows
  const NodeProto *node = nullptr; ///< that made it
  bool isPoison = false;           ///< nothing is known of it after a fault

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool isIds() const { return tensor && !isa<mlir::FloatType>(elementOf(tensor)); }
};

class Importer;

/// A node as its conversion sees it.
class Node {
public:
  Node(const NodeProto &proto, Importer &to) : proto(proto), to(to) {}
  const NodeProto &proto;
  Importer &to;

  void fail(const llvm::Twine &message) const;

  bool has(size_t i) const;
  size_t inputs() const;
  size_t outputs() const;
  /// Whether anybody may ask for an output.
  bool gives(size_t i) const;
  /// An input, or a scalar and a fault.
  const Value &in(size_t i) const;
  mlir::Value tensor(size_t i) const;
  /// The value of an input that must be known, called `what`. A fault and zeros otherwise.
  Known known(size_t i, const char *what) const;
  double knownNumber(size_t i, const char *what) const;

  int64_t integer(llvm::StringRef name, int64_t otherwise) const;
  double number(llvm::StringRef name, double otherwise) const;
  std::string text(llvm::StringRef name, llvm::StringRef otherwise) const;
  std::optional<Shape> integers(llvm::StringRef name) const;
  const GraphProto *graph(llvm::StringRef name) const;
  const TensorProto *stored(llvm::StringRef name) const;
  /// A dimension of `rank`, counted from the end where it is negative; a fault and 0 outside.
  int64_t axisOf(int64_t axis, int64_t rank) const;
  int64_t axis(llvm::StringRef name, int64_t otherwise, int64_t rank) const {
    return axisOf(integer(name, otherwise), rank);
  }
  /// `axes` of a reduction or a squeeze: an input since its opset, an attribute before; ascending.
  std::optional<Shape> axes(size_t input, int64_t rank) const;

  void give(size_t i, Value value) const;
  void give(mlir::Value tensor) const { give(0, tensor); }
  /// Of floating-point numbers, or of the type of the first input.
  void give(size_t i, mlir::Value tensor) const;
  void giveAs(DataType type, mlir::Value tensor) const;
  void give(size_t i, Known known) const;
};

using Convert = void (*)(const Node &);

/// A step of a Scan while it is written: what it reads of outside becomes an argument.
struct Body {
  mlir::Block *block;
  mlir::OpBuilder::InsertPoint outside;
  llvm::SmallVector<mlir::Value, 2> invariants;
  llvm::DenseMap<mlir::Value, mlir::Value> own;
};

class Importer {
public:
  Importer(mlir::MLIRContext &context, const ImportOptions &options);

  ImportedModel run(llvm::StringRef bytes);

  Ops ops;
  int64_t operatorSet = 0;

  void add(llvm::StringRef op, Convert convert) { table[op] = convert; }

  /// Numbers of the program that hold `value`: 0 and 1 for booleans.
  mlir::Value numbers(const Value &value);
  /// What is known of a value: of stored weights, too, as long as they are few.
  KnownPtr knownOf(const Value &value) const;
  Value valueOf(Known known) const;
  Value valueOf(mlir::Value tensor, DataType type) const;

  const Value *find(llvm::StringRef name) const;
  void define(llvm::StringRef name, Value value) { scopes.back()[name] = std::move(value); }

  /// Converts the nodes of a graph in a scope of its own; `give` is called for each output.
  void convert(const GraphProto &graph, llvm::function_ref<void(size_t, const Value &)> result);
  void pushScope() { scopes.emplace_back(); }
  void popScope() { scopes.pop_back(); }
  bool isInBody() const { return body != nullptr; }
  Body *body = nullptr;
  /// While a step is written for one sequence: the size of the batch that the graph has there.
  int64_t ofOneSequence = 0;
  bool failsForOne = false; ///< such a step mixes sequences
  /// Whether the first dimension of a value is the batch, of which a step for one sequence has one.
  bool mixesSequences(const Value &value) const {
    mlir::Value tensor = value.tensor;
    return body && ofOneSequence > 0 && tensor && !value.shape.empty() && value.shape[0] == 1 &&
           tensor.getParentBlock() == body->block;
  }

  /// Counts elements that are known; a fault beyond the limit.
  bool mayKnow(int64_t elements);

private:
  struct Stored {
    std::string name;
    KnownPtr numbers;
    mlir::Value parameter;
    bool isTrained;
  };

  void complain(const llvm::Twine &message);
  bool readModel(llvm::StringRef bytes, ModelProto &model);
  void listUnsupported(const GraphProto &graph);
  void addInput(const ValueInfoProto &info);
  void addStored(const TensorProto &tensor);
  void convert(const NodeProto &node);
  void checkOneSequence(const Node &node);
  void addOutputs(const GraphProto &graph);
  void eraseUnused();
  std::optional<std::string> externalBytes(const TensorProto &tensor, std::string &fault);
  std::string parameterName(llvm::StringRef name);
  mlir::Value parameter(int number);
  mlir::Value materialized(const Value &value);
  mlir::Value inBody(mlir::Value value);
  friend class Node;

  const ImportOptions &options;
  llvm::StringMap<Convert> table;
  std::vector<llvm::StringMap<Value>> scopes;
  std::vector<Stored> stored;
  llvm::DenseMap<const Known *, int> frozen; // known tensors that lie in the file of weights
  llvm::StringMap<int> parameterNames;
  llvm::StringMap<int64_t> freeSizes;
  mlir::func::FuncOp function;
  ImportedModel result;
  struct Input {
    std::string name;
    mlir::ArrayAttr dims;
    unsigned number;
  };
  std::vector<Input> inputs;
  bool knowsSequence = false;
  std::vector<KnownPtr> keptTables; // whose addresses are keys of `frozen`
  Value none;
  int64_t knownElements = 0;
  size_t faults = 0;
  size_t depth = 0;
};

/// A node whose inputs are all known. Nothing when it is not computed here.
std::optional<std::vector<Known>> fold(const Node &node);
/// Whether fold() knows an operator.
bool folds(llvm::StringRef op);

/// softmax(f(q kᵀ)) v as attention, where that is what a product with a softmax is.
bool convertAttentionPattern(const Node &node);
/// a·b over the last two dimensions, the others as numpy broadcasts them.
mlir::Value product(Importer &to, mlir::Value a, mlir::Value b);

// The families.
void addElementwise(Importer &to);
void addShapes(Importer &to);
void addLookups(Importer &to);
void addRows(Importer &to);
void addProducts(Importer &to);
void addConvolutions(Importer &to);
void addAttention(Importer &to);
void addRecurrences(Importer &to);

} // namespace hybrid::onnx::frontend
