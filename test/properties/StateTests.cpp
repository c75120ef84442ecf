//===- StateTests.cpp - a sequence in pieces is the sequence ----------------===//
//
// Walks the ops registered in the dialect: each one that carries state must have a file
// cases/<op>.mlir of pairs of modules separated by `// -----`. The first of a pair has the op on a
// whole sequence, the second the same in two pieces; both have the same inputs (but for segments)
// and outputs. Laws, of values and of the gradients of all inputs:
//
//   a then b, from the state after a = [a; b]       (pairs without segments)
//   a and b each alone = [a; b] packed              (pairs whose first has segments)
//
// A file needs pairs of both kinds. LENGTH = FIRST + SECOND stand for several lengths: with
// --all-lengths each pair has all of them, else the pairs of a file have them in turn.
//
//===----------------------------------------------------------------------===//
#include "test/support/CaseTest.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace hybrid;
using namespace hybrid::test;

namespace {

constexpr double tolerance = 1e-9; // relative, over a whole tensor

struct Pieces {
  int64_t first, second;
};
// Odd and even, one longer than the other, blocks of kernels cut anywhere.
constexpr Pieces lengths[] = {{3, 6}, {18, 19}, {33, 5}};

using Tensors = std::map<std::string, std::vector<double>>;

class StateLaws : public CaseTest {
public:
  StateLaws(std::string op, bool allLengths) : op(std::move(op)), allLengths(allLengths) {}

  void TestBody() override {
    std::string path = std::string(HYBRID_PROPERTY_CASES) + "/" + op + ".mlir";
    auto file = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(!!file) << "hybrid." << op << " carries state but has no case: add " << op
                        << ".mlir";
    SmallVector<StringRef> modules;
    (*file)->getBuffer().split(modules, "// -----");
    ASSERT_EQ(modules.size() % 2, 0u) << path << " has a module without its counterpart";
    bool continued = false, packed = false;
    for (size_t i = 0; i < modules.size(); i += 2) {
      bool segments = modules[i].contains("test.segments");
      (segments ? packed : continued) = true;
      auto inTurn = llvm::ArrayRef(lengths).slice(i / 2 % std::size(lengths), 1);
      for (Pieces pieces : allLengths ? llvm::ArrayRef(lengths) : inTurn) {
        SCOPED_TRACE("pair " + std::to_string(i / 2) + ", lengths " + std::to_string(pieces.first) +
                     " and " + std::to_string(pieces.second));
        compare(modules[i], modules[i + 1], pieces);
      }
    }
    EXPECT_TRUE(continued) << path << " has no sequence that is continued from a state";
    EXPECT_TRUE(packed) << path << " has no packed sequence";
  }

private:
  void compare(StringRef whole, StringRef inPieces, Pieces pieces) {
    Tensors expected = run(inPieces, pieces), actual = run(whole, pieces);
    ASSERT_FALSE(expected.empty());
    for (auto &[name, values] : expected) {
      auto found = actual.find(name);
      ASSERT_NE(found, actual.end()) << name << " is not in both modules";
      ASSERT_EQ(found->second.size(), values.size()) << name;
      double difference = 0, norm = 0;
      for (auto [a, b] : llvm::zip_equal(found->second, values))
        difference += (a - b) * (a - b), norm += b * b;
      EXPECT_LE(std::sqrt(difference), tolerance * std::sqrt(norm)) << name;
      EXPECT_GT(norm, 0) << name << " is zero: the case tests nothing";
    }
    EXPECT_EQ(actual.size(), expected.size()) << "an output is not in both modules";
  }

  /// Outputs and gradients of a module; nothing after a reported failure.
  Tensors run(StringRef source, Pieces pieces) {
    std::string text = source.str();
    auto replace = [&](StringRef word, int64_t value) {
      for (size_t at; (at = text.find(word)) != std::string::npos;)
        text.replace(at, word.size(), std::to_string(value));
    };
    replace("LENGTH", pieces.first + pieces.second);
    replace("FIRST", pieces.first);
    replace("SECOND", pieces.second);
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "the module is not valid:\n" << text;
      return {};
    }
    InputRules rules = takeInputRules(*module);
    std::unique_ptr<rt::Session> session = compile(*module);
    if (!session || !session->initialize(1)) {
      ADD_FAILURE() << "the module does not compile:\n" << text;
      return {};
    }
    const rt::ProgramInfo *vjp = session->executable().findProgram("vjp");
    for (const rt::TensorInfo &input : vjp->inputs)
      fill(*session, input, rules[input.name], pieces);
    if (auto status = session->run("vjp"); !status) {
      ADD_FAILURE() << status.error().message;
      return {};
    }
    Tensors results;
    for (const rt::TensorInfo &output : vjp->outputs) {
      auto values = session->outputAs<double>("vjp", output.name);
      results[output.name].assign(values.begin(), values.end());
    }
    return results;
  }

  /// Inputs of one name and size hold the same numbers in every module.
  static void fill(rt::Session &session, const rt::TensorInfo &input, const InputRule &rule,
                   Pieces pieces) {
    if (rule.segments) {
      auto ids = session.inputAs<int32_t>("vjp", input.name);
      for (size_t i = 0; i < ids.size(); ++i)
        ids[i] = static_cast<int64_t>(i) % (pieces.first + pieces.second) < pieces.first ? 7 : 3;
      return;
    }
    std::seed_seq seed(input.name.begin(), input.name.end());
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(rule.low, rule.high);
    for (double &value : session.inputAs<double>("vjp", input.name))
      value = uniform(engine);
  }

  std::string op;
  bool allLengths;
};

} // namespace

int main(int argc, char **argv) {
  const bool allLengths = argc > 1 && llvm::StringRef(argv[argc - 1]) == "--all-lengths";
  return runForEachOp<StatefulOp>(argc, argv, "StateLaws",
                                  [=](std::string op) { return new StateLaws(op, allLengths); });
}
