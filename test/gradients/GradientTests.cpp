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
#include "test/support/CaseTest.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace hybrid;
using namespace hybrid::test;

namespace {

constexpr double tolerance = 1e-6; // relative, over a whole tensor
constexpr double step = 1e-5;      // of the central differences

class Gradients : public CaseTest {
public:
  Gradients(size_t differences) : differences(differences) {}

  void fillInputs(rt::Session &session, const rt::ProgramInfo &program, const InputRules &rules) {
    std::mt19937_64 engine(7);
    for (const rt::TensorInfo &input : program.inputs) {
      auto found = rules.find(input.name);
      InputRule rule = found == rules.end() ? InputRule{} : found->second;
      std::uniform_real_distribution<double> uniform(rule.low, rule.high);
      if (input.dtype == rt::DType::I32) {
        auto values = session.inputAs<int32_t>(program.name, input.name);
        for (size_t i = 0; i < values.size(); ++i) {
          int64_t length = input.shape.back();
          values[i] = rule.segments
                          ? static_cast<int32_t>(static_cast<int64_t>(i) % length * 3 / length)
                          : static_cast<int32_t>(std::floor(uniform(engine)));
        }
        continue;
      }
      for (double &value : session.inputAs<double>(program.name, input.name)) {
        value = uniform(engine);
        if (std::abs(value) < 0.05) // keep away from kinks
          value += 0.1;
      }
    }
  }

  void checkModule(ModuleOp module) {
    auto rules = takeInputRules(module);
    std::unique_ptr<rt::Session> session = compile(module);
    ASSERT_NE(session, nullptr);
    ASSERT_TRUE(session->initialize(1));
    const rt::ProgramInfo *vjp = session->executable().findProgram("vjp"),
                          *forward = session->executable().findProgram("forward");
    fillInputs(*session, *vjp, rules);
    // The arena is shared: keep what the programs need outside of it.
    std::map<std::string, std::vector<double>> values;
    std::map<std::string, std::vector<int32_t>> integers;
    for (const rt::TensorInfo &input : vjp->inputs) {
      if (input.dtype == rt::DType::I32) {
        auto span = session->inputAs<int32_t>("vjp", input.name);
        integers[input.name].assign(span.begin(), span.end());
      } else {
        auto span = session->inputAs<double>("vjp", input.name);
        values[input.name].assign(span.begin(), span.end());
      }
    }
    auto write = [&](const rt::ProgramInfo &program) {
      for (const rt::TensorInfo &input : program.inputs) {
        if (input.dtype == rt::DType::I32)
          llvm::copy(integers[input.name],
                     session->inputAs<int32_t>(program.name, input.name).begin());
        else
          llvm::copy(values[input.name],
                     session->inputAs<double>(program.name, input.name).begin());
      }
    };
    write(*vjp);
    auto status = session->run("vjp");
    ASSERT_TRUE(status) << status.error().message;
    std::map<std::string, std::vector<double>> analytic;
    for (const rt::TensorInfo &output : vjp->outputs)
      if (output.name.starts_with("grad.")) {
        auto span = session->outputAs<double>("vjp", output.name);
        analytic[output.name.substr(5)].assign(span.begin(), span.end());
      }
    ASSERT_FALSE(analytic.empty());

    auto evaluate = [&] {
      write(*forward);
      EXPECT_TRUE(session->run("forward"));
      double sum = 0;
      for (const rt::TensorInfo &output : forward->outputs) {
        auto span = session->outputAs<double>("forward", output.name);
        const std::vector<double> &cotangent = values["cotangent." + output.name];
        for (size_t i = 0; i < cotangent.size(); ++i)
          sum += span[i] * cotangent[i];
      }
      return sum;
    };
    for (auto &[name, gradient] : analytic) {
      double difference = 0, norm = 0;
      // Odd, or it may meet one column of a matrix alone.
      const size_t stride = std::max<size_t>(1, gradient.size() / differences) | 1;
      for (size_t i = 0; i < gradient.size(); i += stride) {
        double saved = values[name][i];
        values[name][i] = saved + step;
        double above = evaluate();
        values[name][i] = saved - step;
        double below = evaluate();
        values[name][i] = saved;
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
