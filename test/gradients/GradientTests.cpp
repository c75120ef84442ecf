//===- GradientTests.cpp - every differentiable op against differences ------===//
//
// Walks the ops registered in the dialect: each one that is differentiable must have a file
// cases/<op>.mlir with modules separated by
// `// -----`. KIND in a file stands for every value of the op's enum, so that no function can be
// left out. Each module is compiled in f64 like any model, and its `vjp` program is compared with
// central differences of its `forward` program, for about 48 elements of each gradient, or as many
// as --differences=N says.
//
//===----------------------------------------------------------------------===//
#include "dialect/ScalarFunctions.h"
#include "runtime/ranks/LocalRanks.h"
#include "test/support/CaseTest.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <random>
#include <thread>

using namespace mlir;
using namespace hybrid;
using namespace hybrid::test;

namespace {

constexpr double tolerance = 1e-6; // relative, over a whole tensor
constexpr double step = 1e-5;      // of the central differences

class Gradients : public CaseTest {
public:
  Gradients(size_t differences) : differences(differences) {}

  /// A rank's session and what its inputs hold, which the programs' memory does not keep.
  struct Rank {
    std::unique_ptr<rt::Session> session;
    std::map<std::string, std::vector<double>> values, analytic;
    std::map<std::string, std::vector<int32_t>> integers;
  };

  static void fillInputs(Rank &rank, size_t number, const InputRules &rules) {
    std::mt19937_64 engine(7 + number);
    for (const rt::TensorInfo &input : rank.session->executable().findProgram("vjp")->inputs) {
      auto found = rules.find(input.name);
      InputRule rule = found == rules.end() ? InputRule{} : found->second;
      std::uniform_real_distribution<double> uniform(rule.low, rule.high);
      const auto elements = static_cast<size_t>(input.elements());
      if (input.dtype == rt::DType::I32) {
        for (size_t i = 0; i < elements; ++i) {
          int64_t length = input.shape.back();
          rank.integers[input.name].push_back(
              rule.segments ? static_cast<int32_t>(static_cast<int64_t>(i) % length * 3 / length)
                            : static_cast<int32_t>(std::floor(uniform(engine))));
        }
        continue;
      }
      for (size_t i = 0; i < elements; ++i) {
        double value = uniform(engine);
        if (std::abs(value) < 0.05) // keep away from kinks
          value += 0.1;
        rank.values[input.name].push_back(value);
      }
    }
  }

  /// Runs a program on all ranks at once; each must come to the end of it for the others to.
  static void run(std::vector<Rank> &ranks, const std::string &name) {
    auto runOne = [&](Rank &rank) {
      for (const rt::TensorInfo &input : rank.session->executable().findProgram(name)->inputs) {
        if (input.dtype == rt::DType::I32)
          llvm::copy(rank.integers[input.name],
                     rank.session->inputAs<int32_t>(name, input.name).begin());
        else
          llvm::copy(rank.values[input.name],
                     rank.session->inputAs<double>(name, input.name).begin());
      }
      auto status = rank.session->run(name);
      EXPECT_TRUE(status) << status.error().message;
    };
    std::vector<std::thread> others;
    for (Rank &rank : llvm::drop_begin(ranks))
      others.emplace_back([&] { runOne(rank); });
    runOne(ranks.front());
    for (std::thread &other : others)
      other.join();
  }

  /// What the gradients are of: the sum of all ranks' results by their cotangents.
  static double evaluate(std::vector<Rank> &ranks) {
    run(ranks, "forward");
    double sum = 0;
    for (Rank &rank : ranks)
      for (const rt::TensorInfo &output :
           rank.session->executable().findProgram("forward")->outputs) {
        auto span = rank.session->outputAs<double>("forward", output.name);
        const std::vector<double> &cotangent = rank.values["cotangent." + output.name];
        for (size_t i = 0; i < cotangent.size(); ++i)
          sum += span[i] * cotangent[i];
      }
    return sum;
  }

  /// So many ranks, each with inputs of its own; 1: a session that is no rank.
  static std::vector<Rank> openRanks(const std::shared_ptr<const rt::Executable> &executable,
                                     int64_t count) {
    std::vector<Rank> ranks;
    if (count == 1) {
      ranks.emplace_back().session = open(executable, {});
      return ranks;
    }
    auto transports = rt::makeLocalRanks(static_cast<int>(count));
    ranks.resize(transports.size());
    std::vector<std::thread> threads; // those on GPUs meet here
    for (auto [rank, transport] : llvm::zip(ranks, transports))
      threads.emplace_back([&] {
        rt::SessionOptions options;
        options.threads = 1;
        options.ranks = std::make_shared<rt::Communicator>(std::move(transport));
        rank.session = open(executable, options);
      });
    for (std::thread &thread : threads)
      thread.join();
    return ranks;
  }

  /// A module with `test.ranks` runs as so many ranks.
  void checkModule(ModuleOp module) {
    auto count = module->getAttrOfType<IntegerAttr>("test.ranks");
    module->removeAttr("test.ranks");
    auto rules = takeInputRules(module);
    auto executable = compileExecutable(module);
    ASSERT_TRUE(executable) << executable.error().message;
    std::vector<Rank> ranks = openRanks(*executable, count ? count.getInt() : 1);
    for (auto [number, rank] : llvm::enumerate(ranks)) {
      ASSERT_NE(rank.session, nullptr);
      ASSERT_TRUE(rank.session->initialize(1));
      fillInputs(rank, number, rules);
    }
    run(ranks, "vjp");
    for (Rank &rank : ranks) {
      for (const rt::TensorInfo &output : rank.session->executable().findProgram("vjp")->outputs)
        if (output.name.starts_with("grad.")) {
          auto span = rank.session->outputAs<double>("vjp", output.name);
          rank.analytic[output.name.substr(5)].assign(span.begin(), span.end());
        }
      ASSERT_FALSE(rank.analytic.empty());
    }
    for (Rank &rank : ranks)
      for (auto &[name, gradient] : rank.analytic) {
        double difference = 0, norm = 0;
        // Odd, or it may meet one column of a matrix alone.
        const size_t stride = std::max<size_t>(1, gradient.size() / differences) | 1;
        for (size_t i = 0; i < gradient.size(); i += stride) {
          double &value = rank.values[name][i];
          const double saved = value;
          value = saved + step;
          double above = evaluate(ranks);
          value = saved - step;
          double below = evaluate(ranks);
          value = saved;
          double numeric = (above - below) / (2 * step);
          difference += (numeric - gradient[i]) * (numeric - gradient[i]);
          norm += numeric * numeric;
        }
        EXPECT_LE(std::sqrt(difference), tolerance * std::sqrt(norm) + 1e-9)
            << "gradient of " << name << ", norm " << std::sqrt(norm);
        EXPECT_GT(norm, 0) << name << " does not influence the result: the case tests nothing";
      }
  }

private:
  size_t differences; // of a gradient
};

/// One test an op; the kinds of an enum op are checked one after the other.
class OpGradients : public Gradients {
public:
  OpGradients(std::string op, size_t differences) : Gradients(differences), op(std::move(op)) {}

  void TestBody() override {
    std::string path = std::string(HYBRID_GRADIENT_CASES) + "/" + op + ".mlir";
    auto file = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(!!file) << "hybrid." << op << " is differentiable but has no gradient case: add "
                        << op << ".mlir";
    for (const std::string &kind : kinds()) {
      SCOPED_TRACE(kind);
      std::string text = (*file)->getBuffer().str();
      for (size_t at; (at = text.find("KIND")) != std::string::npos;)
        text.replace(at, 4, kind);
      SmallVector<StringRef> modules;
      StringRef(text).split(modules, "// -----");
      for (auto [index, source] : llvm::enumerate(modules)) {
        SCOPED_TRACE("module " + std::to_string(index));
        auto module = parseSourceString<ModuleOp>(source, &context);
        ASSERT_TRUE(!!module) << path;
        checkModule(*module);
      }
    }
  }

  /// Values of the op's enum that have a gradient; one empty name for an op without one.
  std::vector<std::string> kinds() const {
    std::vector<std::string> names;
    if (op == UnaryOp::getOperationName().drop_front(7)) {
      for (const scalar::UnaryFunction &function : scalar::unaryFunctions)
        if (function.differentiable)
          names.push_back(stringifyUnaryKind(function.kind).str());
    } else if (op == BinaryOp::getOperationName().drop_front(7)) {
      for (const scalar::BinaryFunction &function : scalar::binaryFunctions)
        if (function.differentiable)
          names.push_back(stringifyBinaryKind(function.kind).str());
    } else if (op == ReduceOp::getOperationName().drop_front(7)) {
      for (unsigned i = 0; auto kind = symbolizeReduceKind(i); ++i)
        names.push_back(stringifyReduceKind(*kind).str());
    } else {
      names.push_back("");
    }
    return names;
  }

  std::string op;
};

} // namespace

int main(int argc, char **argv) {
  size_t differences = 48;
  llvm::StringRef last = argc > 1 ? argv[argc - 1] : "";
  if (last.consume_front("--differences=") &&
      (last.getAsInteger(10, differences) || !differences)) {
    llvm::errs() << "--differences=" << last << ", expected a number\n";
    return 2;
  }
  return runForEachOp<DifferentiableOp>(
      argc, argv, "Gradients", [=](std::string op) { return new OpGradients(op, differences); });
}
