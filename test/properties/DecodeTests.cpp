//===- DecodeTests.cpp - token by token is the whole sequence ---------------===//
//
// Walks the ops registered in the dialect: each one that carries state has modules in
// cases/<op>.mlir (StateTests.cpp) or decoded/<op>.mlir without states and segments of their own.
// They are made models here: inputs along the sequence are looked up by a token, all others are
// parameters. Law, in f64:
//
//   prefill and steps give what the whole sequence gives, wherever the one ends and the others go
//   on
//
//===----------------------------------------------------------------------===//
#include "dialect/Shapes.h"
#include "runtime/Decoder.h"
#include "test/properties/DecodeLaw.h"
#include "test/support/CaseTest.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace hybrid;
using namespace hybrid::test;

namespace {

constexpr int64_t lengths[] = {9, 38};
constexpr int64_t vocabulary = 11;

class DecodeLaws : public CaseTest {
public:
  DecodeLaws(std::string op) : op(std::move(op)) {}

  void TestBody() override {
    int decoded = 0;
    // Of the pairs, the whole sequence without a state of its own; then what is here for decoding.
    for (auto [folder, every] : {std::pair("/cases/", 2), {"/decoded/", 1}}) {
      const std::string path = HYBRID_PROPERTIES + std::string(folder) + op + ".mlir";
      auto file = llvm::MemoryBuffer::getFile(path);
      SmallVector<StringRef> modules;
      if (file)
        (*file)->getBuffer().split(modules, "// -----");
      for (size_t i = 0; i < modules.size(); i += static_cast<size_t>(every)) {
        if (modules[i].contains("_state") || modules[i].contains("segments") ||
            modules[i].contains("past("))
          continue;
        ++decoded;
        for (int64_t length : lengths) {
          SCOPED_TRACE(path + ", module " + std::to_string(i) + ", length " +
                       std::to_string(length));
          decode(modules[i], length);
        }
      }
    }
    EXPECT_GT(decoded, 0) << "hybrid." << op
                          << " carries state but is decoded nowhere: add decoded/" << op << ".mlir";
  }

private:
  void decode(StringRef source, int64_t length) {
    std::string text = source.str();
    for (auto [word, value] :
         {std::pair("LENGTH", length), {"FIRST", length / 3}, {"SECOND", length - length / 3}})
      for (size_t at; (at = text.find(word)) != std::string::npos;)
        text.replace(at, StringRef(word).size(), std::to_string(value));
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    makeModel(*module, length);
    CompileOptions options{shapeOf(module->lookupSymbol<func::FuncOp>("forward").getArgument(0))[0],
                           length, "f64"};
    options.decode = true;
    options.prefill = 8; // and two
    std::unique_ptr<rt::Session> session = compile(*module, options);
    ASSERT_TRUE(session) << text;
    ASSERT_TRUE(session->initialize(1));
    const bool countsForAll = source.contains("tensor<1xLENGTH") && options.batch > 1;
    expectDecodingIsForward(*session, vocabulary, countsForAll);
  }

  /// Inputs become parameters; those along the sequence a table of them, looked up by tokens.
  void makeModel(ModuleOp module, int64_t length) {
    InputRules rules = takeInputRules(module);
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    Block &body = forward.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    const int64_t batch = shapeOf(
        forward.getResultTypes().empty() ? Value() : body.getTerminator()->getOperand(0))[0];
    const unsigned count = forward.getNumArguments();
    ASSERT_TRUE(
        succeeded(forward.insertArgument(count, tensorOf({batch, length}, builder.getI32Type()),
                                         builder.getDictionaryAttr(builder.getNamedAttr(
                                             "hybrid.name", builder.getStringAttr("tokens"))),
                                         forward.getLoc())));
    Value tokens = forward.getArgument(count);
    for (unsigned i = 0; i < count; ++i) {
      BlockArgument input = forward.getArgument(i);
      auto name = forward.getArgAttrOfType<StringAttr>(i, "hybrid.name").str();
      SmallVector<int64_t> shape(shapeOf(input));
      const bool along = shape.size() > 2 && shape[0] == batch && shape[1] == length;
      if (!along) {
        input.replaceAllUsesWith(parameter(builder, name, shape, rules[name]));
        continue;
      }
      Value table = parameter(
          builder, name, {vocabulary, elementCount(ArrayRef(shape).drop_front(2))}, rules[name]);
      Value rows = EmbeddingOp::create(builder, forward.getLoc(), table, tokens);
      input.replaceAllUsesWith(
          ReshapeOp::create(builder, forward.getLoc(), rows, shapeAttr(&context, shape))
              .getResult());
    }
    llvm::BitVector old(count + 1, true);
    old.reset(count);
    ASSERT_TRUE(succeeded(forward.eraseArguments(old)));
  }

  static Value parameter(OpBuilder &builder, StringRef name, ArrayRef<int64_t> shape,
                         const InputRule &rule) {
    Location loc = builder.getUnknownLoc();
    auto type = tensorOf(shape, builder.getF32Type());
    Value drawn = RandomOp::create(
        builder, loc, type, DistributionAttr::get(builder.getContext(), Distribution::Uniform),
        builder.getF64FloatAttr(rule.low), builder.getF64FloatAttr(rule.high),
        builder.getStringAttr(name));
    return ParameterOp::create(builder, loc, type, builder.getStringAttr(name), drawn,
                               builder.getBoolAttr(true), builder.getBoolAttr(true),
                               builder.getF64FloatAttr(1));
  }

  std::string op;
};

} // namespace

int main(int argc, char **argv) {
  return runForEachOp<StatefulOp>(argc, argv, "DecodeLaws",
                                  [](std::string op) { return new DecodeLaws(op); });
}
