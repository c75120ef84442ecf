//===- Elaborator.h - runs a model to write out its program --------------------===//
//
// A model is run once, as a program over static values: loops are unrolled, layers instantiated,
// shapes checked with the names of free dimensions. What happens to tensors is written to the
// function @forward. Faults are reported where they are found and their results poisoned, so that
// one run reports every independent fault once.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "frontends/dsl/Emitter.h"
#include "frontends/dsl/Frontend.h"
#include "frontends/dsl/Modules.h"
#include "frontends/dsl/Observer.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace hybrid::dsl {

class Elaborator {
public:
  /// `observer`: may be null.
  explicit Elaborator(Diagnostics &diagnostics, Observer *observer = nullptr)
      : diagnostics(diagnostics), observer(observer), emit(diagnostics), scope(emit.scope) {
    emit.runLayer = [this](const LayerValue &layer, const Value &x, llvm::StringRef name,
                           Place place) { return applyLayer(layer, x, name, place); };
    emit.runBound = [this](const LayerValue &layer, llvm::StringRef name, Place place) {
      return applyBound(layer, name, place);
    };
  }

  /// The module of a model, or null after diagnostics.
  /// `optimizers` as Options has them; their names are those of `optimizerNames`.
  mlir::OwningOpRef<mlir::ModuleOp> run(const Module &module, const Definition &model,
                                        const llvm::StringMap<std::string> &settings,
                                        llvm::ArrayRef<std::string> optimizers,
                                        const Module &optimizerNames);

  /// Runs a model for its diagnostics and the observer, with the defaults of its parameters; one
  /// without a default has no value, of which nothing is said.
  void look(const Module &module, const Definition &model);

  /// The choices of a model and what is set, or nothing after diagnostics.
  std::optional<ModelSpace> describeSpace(const Module &module, const Definition &model,
                                          const llvm::StringMap<std::string> &settings);

private:
  struct Variable {
    Value value;
    Place place; // where it was named
  };
  /// One layer (or the model) being run.
  struct Frame {
    const Module *module = nullptr;
    const Definition *definition = nullptr;
    std::vector<llvm::StringMap<Variable>> blocks;
    Value result;
    Place resultPlace;
    bool returned = false;
    bool abandoned = false; // a fault made the rest meaningless
  };
  using Note = Diagnostics::Note;

  // Model (Elaborator.cpp)
  /// Begins an empty program and the frame of the model.
  void begin(const Module &module, const Definition &model);
  void bindSettings(const Definition &model, const llvm::StringMap<std::string> &settings,
                    bool allNeeded = true);
  Value readSetting(const ParameterSyntax &parameter, const std::string &setting);
  void finish(const Definition &model);

  // Choices (Choices.cpp)
  struct Option {
    Value value;
    Place place;
    std::string source, setting; // as the language and as --set write it
  };
  bool namesOneOf(const Expression &callee);
  /// Its default is `one_of(...)`.
  bool isChoice(const ParameterSyntax &parameter);
  /// Empty after diagnostics.
  std::vector<Option> readOptions(const Definition &model, const ParameterSyntax &parameter);
  /// The option that was set, else the first.
  Value choose(const Definition &model, const ParameterSyntax &parameter,
               const std::string *setting);

  // Optimizers (Optimizers.cpp)
  struct Optimizer;
  std::optional<Optimizer> readOptimizer(const std::string &given);
  /// Makes a function of each optimizer for the parameters that it is for.
  void writeOptimizers(llvm::ArrayRef<std::string> given, const Module &names);
  void writeOptimizer(const Optimizer &optimizer, mlir::ArrayAttr sizes,
                      llvm::ArrayRef<mlir::Attribute> parameters);

  // Names and scopes (Elaborator.cpp)
  Frame &frame() { return *frames.back(); }
  Variable *findVariable(llvm::StringRef name);
  void define(llvm::StringRef name, Value value, Place place);
  std::vector<std::string> visibleNames();
  /// The name made unique among those of its scope: `w`, `w_2`, ...
  std::string uniqueName(llvm::StringRef base);
  /// The next `blocks.N.` of the current scope.
  std::string nextBlock();

  // Statements (Statements.cpp)
  void runBlock(const std::vector<Statement> &statements);
  void runStatement(const Statement &statement);
  void runLet(const Statement &statement);
  void bindPattern(const Pattern &pattern, const Value &value, Place place);
  void runAssign(const Statement &statement);
  void runFor(const Statement &statement);
  void runRepeat(const Statement &statement);
  void runTopology(const Statement &statement);
  void runInput(const Statement &statement);
  void runOutput(const Statement &statement);
  /// Runs statements in a block of their own, in which `bind` defines names first; numbered: under
  /// the parameter scope `blocks.N`.
  void runBody(
      const std::vector<Statement> &body, bool numbered, llvm::function_ref<void()> bind = [] {});
  /// Whether a loop goes on.
  bool goesOn(Place place);
  bool isModelLevel() { return frame().definition->isModel; }

  // Expressions (Expressions.cpp)
  /// `hint`: the name of the `let` this is the value of, for parameters.
  Value evaluate(const Expression &expression, llvm::StringRef hint = "");
  /// Reports a value that would exhaust memory or time, and takes the steps that it is worth.
  bool isTooLarge(Place place, const Value &value);
  /// Reports, once, nesting that would exhaust the stack.
  bool isTooDeep(Place place);
  /// The module of the library with a layer of this name; empty: none.
  llvm::StringRef libraryModule(llvm::StringRef name);
  Value evaluateName(const Expression &expression);
  Value evaluateUnary(const Expression &expression);
  Value evaluateBinary(const Expression &expression);
  Value evaluateIndex(const Expression &expression);
  Value indexList(const Expression &expression, const Value &list);
  Value indexTensor(const Expression &expression, const Value &tensor);
  /// Which of a score's numbers each subscript is; nothing where none of them is one.
  std::optional<std::vector<Scoring::Index>> scoreIndices(const Expression &expression);
  /// Reads one subscript of a dimension of size `whole`; false after an error.
  bool readRange(const Subscript &subscript, const Value &tensor, const Dim &whole, int64_t &start,
                 Dim &size);
  /// true, false, or nothing after an error.
  std::optional<bool> condition(const Expression &expression);
  /// A known integer, or nothing after an error.
  std::optional<int64_t> integer(const Expression &expression, llvm::StringRef what);

  // Calls (Calls.cpp)
  struct Given {
    Value value;
    Place place;
  };
  Value evaluateCall(const Expression &expression, llvm::StringRef hint);
  Value evaluateWith(const Expression &expression);
  /// Sorts arguments to parameters; false after an error. `scope` receives the reserved argument
  /// `name`.
  bool sortArguments(const Expression &call, const LayerValue &layer,
                     llvm::ArrayRef<std::string> names, bool takesRest,
                     std::vector<std::optional<Given>> &given, std::string *scope);
  Value callBuiltin(const Expression &call, const LayerValue &layer);
  Value callLayer(const Expression &call, const LayerValue &layer, llvm::StringRef scope);
  /// The argument `name`: a string of letters, digits and '_'; false after an error.
  bool readName(Place place, const Value &value, std::string &into);
  /// A layer of one argument, called by an operator at `place`.
  Value applyLayer(LayerValue layer, const Value &x, llvm::StringRef scope, Place place);
  /// Runs a layer on what it has been given by `with`.
  Value applyBound(const LayerValue &layer, llvm::StringRef scope, Place place);
  /// False when an argument is missing or at fault.
  bool bindParameters(const LayerValue &layer, std::vector<std::optional<Given>> &given,
                      Place call);
  /// The value as the parameter takes it, or poison after an error.
  Value convert(const Value &value, const ParameterSyntax &parameter, Place place,
                llvm::StringRef owner);
  /// Matches a shape against a type, binding the names it sees first.
  bool unify(const Value &tensor, const TypeSyntax &type, Place place, llvm::StringRef owner,
             llvm::StringRef what, std::vector<Note> notes);
  /// A size of a type that is a name which a shape is to be bound to.
  bool isNewSize(const Expression &dimension);
  void checkResult(const Definition &definition, Value &result);

  // Parameters (Parameters.cpp)
  Value evaluateParam(const Expression &call, llvm::StringRef hint);
  Value initialValue(const Expression &init, const std::string &name, const Shape &shape);
  /// Reports an initial value that depends on an input or another parameter.
  bool isIndependent(const Value &initial, Place place, llvm::StringRef name);

  Diagnostics &diagnostics;
  Observer *observer;
  Emitter emit;
  std::string &scope; // the emitter's
  std::vector<std::unique_ptr<Frame>> frames;
  llvm::StringMap<std::string> libraryModules; // of names that were asked for
  llvm::StringMap<int> usedNames;              // full names of scopes and parameters
  int depth = 0;                               // nesting of evaluate()
  mlir::OwningOpRef<mlir::ModuleOp> program;
  mlir::func::FuncOp function;
  int optimizersWritten = 0;
  struct Output {
    std::string name;
    Place place;
    mlir::Value value;
  };
  std::vector<Output> outputs;
  struct Input {
    std::string name;
    Place place;
    Shape shape;
  };
  std::vector<Input> inputs;
};

} // namespace hybrid::dsl
