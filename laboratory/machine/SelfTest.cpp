//===- SelfTest.cpp - carried cases on this device --------------------------------===//
//
// Built with exceptions: the JSON library throws for what a case lacks, and nothing thrown leaves
// this file.
//
//===----------------------------------------------------------------------===//
#include "laboratory/machine/SelfTest.h"
#include "runtime/Session.h"
#include "runtime/cuda/CufftApi.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/ParameterFile.h"
#include "training/arrays/TensorInput.h"
#include "training/compile/ModelSpec.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

namespace hybrid::rt::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// What is wrong with a case.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T> T valueOf(Result<T> result) {
  if (!result)
    throw Fault(result.error().message);
  return std::move(*result);
}
void require(const Result<void> &result) {
  if (!result)
    throw Fault(result.error().message);
}

/// What a case is compared with is not on this machine.
struct LeftOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What came of a case: its largest error as a part of the tolerance, or what is wrong.
struct Outcome {
  std::string name, fault;
  std::string leftOut;             // not empty: it did not run, and why
  double error = 0, tolerance = 0; // of the tensor that is nearest to its tolerance
  size_t tensors = 0;
};

/// A case's tensor of the session, as numbers.
std::vector<double> numbersOf(Session &session, const ProgramInfo &program,
                              const std::string &tensor, std::vector<int64_t> &shape) {
  std::span<const std::byte> bytes;
  DType type = DType::F32;
  auto use = [&](const TensorInfo &info, std::span<const std::byte> data) {
    type = info.dtype, shape = info.shape, bytes = data;
  };
  std::string name = tensor.starts_with("output.") ? tensor.substr(7) : tensor;
  for (const TensorInfo &output : program.outputs)
    if (output.name == name)
      use(output, session.output(program.name, name));
  const auto &parameters = session.executable().parameters();
  for (size_t i = 0; i < parameters.size() && bytes.empty(); ++i)
    if (tensor == "grad." + parameters[i].name && parameters[i].trainable)
      use(parameters[i], session.parameter(i, Session::Slot::Gradient));
  if (bytes.empty())
    throw Fault(fmt::format("the model gives no '{}'", tensor));
  std::vector<double> values(bytes.size() / static_cast<size_t>(bytesOf(type)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = numberAt(type, bytes, i);
  return values;
}

/// Notes how far a tensor is off, as a part of its size.
void note(const std::string &tensor, double error, double tolerance, Outcome &outcome) {
  ++outcome.tensors;
  if (!(error <= tolerance)) // also for what is no number
    outcome.fault += fmt::format("{}'{}': relative error {:.2e} above {:.0e}",
                                 outcome.fault.empty() ? "" : "; ", tensor, error, tolerance);
  if (error * outcome.tolerance >= outcome.error * tolerance)
    outcome.error = error, outcome.tolerance = tolerance;
}

void compare(Session &session, const ProgramInfo &program, const fs::path &folder,
             const Json &expected, Outcome &outcome) {
  const auto tensor = expected.at("tensor").get<std::string>();
  std::vector<int64_t> shape;
  std::vector<double> ours = numbersOf(session, program, tensor, shape);
  size_t from = 0, count = ours.size();
  if (expected.contains("rows") && !expected["rows"].is_null()) {
    const size_t row =
        shape.empty() || shape[0] == 0 ? 1 : ours.size() / static_cast<size_t>(shape[0]);
    from = expected["rows"].at(0).get<size_t>() * row;
    const size_t to = expected["rows"].at(1).get<size_t>() * row;
    if (from > to || to > ours.size())
      throw Fault(fmt::format("'{}' has no rows {}", tensor, expected["rows"].dump()));
    count = to - from;
  }
  NpyArray array = valueOf(readNpy((folder / expected.at("file").get<std::string>()).string()));
  if (static_cast<size_t>(array.elements()) != count)
    throw Fault(
        fmt::format("'{}' has {} elements where {} are expected", tensor, count, array.elements()));
  std::vector<std::byte> bytes = valueOf(array.convertedTo(DType::F64, tensor));
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    double difference = ours[from + i] - numberAt(DType::F64, bytes, i);
    sum += difference * difference;
  }
  const double size = expected.value("size", 0.0), tolerance = expected.value("tolerance", 0.0);
  note(tensor, size > 0 ? std::sqrt(sum) / size : std::sqrt(sum), tolerance, outcome);
}

/// Writes the arrays into the inputs; those that are not given stay zero.
void setInputs(Session &session, const ProgramInfo &program, const fs::path &folder,
               const Json &given) {
  for (const TensorInfo &input : program.inputs) {
    std::span<std::byte> memory = session.input(program.name, input.name);
    std::fill(memory.begin(), memory.end(), std::byte{0});
  }
  for (auto [section, prefix] : {std::pair("inputs", ""), std::pair("cotangents", "cotangent.")}) {
    if (!given.contains(section))
      continue;
    for (const auto &[name, file] : given[section].items()) {
      const TensorInfo &info = *valueOf(findTensor(program.inputs, name, prefix, "input"));
      TensorInput input{name, (folder / file.get<std::string>()).string(), {}};
      input.array = valueOf(readNpy(input.source));
      std::vector<std::byte> bytes = valueOf(input.bytesFor(info.shape, info.dtype));
      std::span<std::byte> memory = session.input(program.name, info.name);
      if (memory.size() != bytes.size())
        throw Fault(fmt::format("no memory for the input '{}'", name));
      std::memcpy(memory.data(), bytes.data(), bytes.size());
    }
  }
}

/// What a case carries, or what its source becomes here; with `otherwise` in another way, as a
/// case's "reference" says.
std::shared_ptr<const Executable> executableOf(const fs::path &folder, const Json &content,
                                               const SelfTestOptions &options,
                                               const Json &otherwise = Json::object()) {
  if (!content.contains("model")) {
    const std::string file =
        otherwise.value("executable", content.value("executable", std::string("model.hyx")));
    auto executable = valueOf(
        Executable::load((folder / file).string(), options.trust ? Trust::Given : Trust::ByKey));
    require(executable->checkDevice(options.device));
    return executable;
  }
  const Json &source = content["model"];
  ModelSpec model;
  model.path = (folder / source.at("file").get<std::string>()).string();
  if (source.contains("batch"))
    model.batch = source["batch"].get<int64_t>();
  if (source.contains("length"))
    model.length = source["length"].get<int64_t>();
  model.precision = otherwise.value("precision", source.at("precision").get<std::string>());
  model.settings = source.at("set").get<std::vector<std::string>>();
  model.device = options.device.empty() ? "cpu" : options.device;
  if (!options.target.empty())
    model.target = options.target;
  if (otherwise.contains("transforms"))
    model.transforms = otherwise["transforms"].get<std::string>();
  model.quiet = true;
  return valueOf(model.load());
}

//===-- beside another way to compute it ----------------------------------------===//

/// So many numbers of f32, drawn by a tensor's name; their squares sum up to 1 in the mean.
std::vector<float> drawn(const std::string &name, size_t count) {
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937 engine(seed);
  std::normal_distribution<float> draw(0, 1 / std::sqrt(static_cast<float>(count)));
  std::vector<float> values(count);
  for (float &value : values)
    value = draw(engine);
  return values;
}

/// What a session makes of inputs and parameters that are drawn.
struct Beside {
  std::shared_ptr<const Executable> executable;
  std::unique_ptr<Session> session;
  const ProgramInfo *program = nullptr;

  Beside(std::shared_ptr<const Executable> given, const SelfTestOptions &options)
      : executable(std::move(given)),
        session(valueOf(Session::create(executable, {options.threads}))),
        program(executable->findProgram("vjp")) {
    if (!program)
      throw Fault(executable->name() + " has no program 'vjp'");
    for (size_t i = 0; i < executable->parameters().size(); ++i) {
      const ParameterInfo &parameter = executable->parameters()[i];
      const auto values = drawn(parameter.name, static_cast<size_t>(parameter.elements()));
      require(session->setParameter(i, std::as_bytes(std::span(values))));
    }
    for (int run = 0; run < 2; ++run) { // as above
      for (const TensorInfo &input : program->inputs) {
        const auto values = drawn(input.name, static_cast<size_t>(input.elements()));
        std::span<std::byte> memory = session->input(program->name, input.name);
        if (input.dtype != DType::F32 || memory.size() != std::as_bytes(std::span(values)).size())
          throw Fault(fmt::format("the input '{}' is not of f32", input.name));
        std::memcpy(memory.data(), values.data(), memory.size());
      }
      require(session->run(program->name));
    }
  }

  /// All that it makes, by name.
  std::vector<std::string> tensors() const {
    std::vector<std::string> names;
    for (const TensorInfo &output : program->outputs)
      names.push_back(output.name);
    for (const ParameterInfo &parameter : executable->parameters())
      if (parameter.trainable)
        names.push_back("grad." + parameter.name);
    return names;
  }
  std::vector<double> numbers(const std::string &tensor) {
    std::vector<int64_t> shape;
    return numbersOf(*session, *program, tensor, shape);
  }
};

void runBeside(const fs::path &folder, const Json &content, const SelfTestOptions &options,
               Outcome &outcome) {
  const Json &reference = content["reference"];
  Json own = Json::object();
  if (reference.contains("transforms")) {
    if (auto library = cuda::openCufft(); reference["transforms"] == "cufft" && !library)
      throw LeftOut(library.error().message);
    own["transforms"] = "own";
  }
  Beside ours(executableOf(folder, content, options, own), options),
      theirs(executableOf(folder, content, options, reference), options);
  const auto tolerance = content.at("tolerance").get<double>();
  for (const std::string &tensor : ours.tensors()) {
    const std::vector<double> x = ours.numbers(tensor), y = theirs.numbers(tensor);
    if (x.size() != y.size())
      throw Fault(
          fmt::format("'{}' has {} elements, and of the reference {}", tensor, x.size(), y.size()));
    double sum = 0, size = 0;
    for (size_t i = 0; i < x.size(); ++i)
      sum += (x[i] - y[i]) * (x[i] - y[i]), size += y[i] * y[i];
    note(tensor, std::sqrt(sum / size), tolerance, outcome); // no number where all is zero
  }
}

//===-- cases -------------------------------------------------------------------===//

void runCase(const fs::path &folder, const Json &content, const SelfTestOptions &options,
             Outcome &outcome) {
  if (content.contains("reference"))
    return runBeside(folder, content, options, outcome);
  auto executable = executableOf(folder, content, options);
  auto session = valueOf(Session::create(executable, {options.threads}));
  if (content.contains("parameters") && !content["parameters"].is_null())
    require(loadParameters(*session, (folder / content["parameters"].get<std::string>()).string()));
  const char *name = content.value("cotangents", Json::object()).empty() ? "forward" : "vjp";
  const ProgramInfo *program = executable->findProgram(name);
  if (!program)
    throw Fault(fmt::format("{} has no program '{}'", executable->name(), name));
  // Twice: on a GPU the second run is another way through the runtime.
  for (int run = 0; run < 2; ++run) {
    setInputs(*session, *program, folder, content);
    require(session->run(name));
  }
  for (const Json &expected : content.at("expected"))
    compare(*session, *program, folder, expected, outcome);
  if (outcome.tensors == 0)
    outcome.fault = "the case expects nothing";
}

/// Where the cases of the installation are, beside the folder of this program.
std::string carriedCases() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return (self.parent_path().parent_path() / "share" / "hybrid" / "selftest").string();
}

} // namespace

Result<void> runCases(const SelfTestOptions &given) {
  SelfTestOptions options = given;
  if (options.cases.empty())
    options.cases = carriedCases();
  std::error_code error;
  std::vector<fs::path> folders;
  for (fs::directory_iterator at(options.cases, error), end; !error && at != end;
       at.increment(error))
    if (fs::exists(at->path() / "case.json"))
      folders.push_back(at->path());
  if (error)
    return Error{
        fmt::format("cannot read the folder of cases '{}': {}", options.cases, error.message())};
  std::sort(folders.begin(), folders.end());
  size_t passed = 0, failed = 0, leftOut = 0;
  Json lines = Json::array();
  for (const fs::path &folder : folders) {
    Outcome outcome;
    outcome.name = folder.filename().string();
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), outcome.name) == options.only.end())
      continue;
    try {
      const std::string path = (folder / "case.json").string();
      const Json content = valueOf(parseJson(valueOf(readText(path)), path));
      const std::string only = content.value("device", std::string());
      if (!only.empty() && only != (options.device.empty() ? "cpu" : options.device))
        continue;
      runCase(folder, content, options, outcome);
    } catch (const LeftOut &reason) {
      outcome.leftOut = reason.what();
    } catch (const nlohmann::json::exception &) {
      outcome.fault =
          "case.json lacks a field, or one is of another type: it is damaged, or another "
          "version wrote it";
    } catch (const std::exception &fault) {
      outcome.fault = fault.what();
    }
    ++(!outcome.leftOut.empty() ? leftOut : outcome.fault.empty() ? passed : failed);
    lines.push_back({{"case", outcome.name},
                     {"passed", outcome.fault.empty() && outcome.leftOut.empty()},
                     {"left_out", outcome.leftOut},
                     {"error", outcome.error},
                     {"tolerance", outcome.tolerance},
                     {"fault", outcome.fault}});
    if (options.json)
      continue;
    if (!outcome.leftOut.empty())
      say("left out  {}\n      {}\n", outcome.name, outcome.leftOut);
    else if (outcome.fault.empty())
      say("pass  {:<48} {} tensors, error {:.1e} (of {:.0e})\n", outcome.name, outcome.tensors,
          outcome.error, outcome.tolerance);
    else
      say("FAIL  {}\n      {}\n", outcome.name, outcome.fault);
    std::fflush(stdout);
  }
  if (passed + failed + leftOut == 0)
    return Error{fmt::format("'{}' holds no case{}: write them with test/golden/run --prepare DIR "
                             "--target {}",
                             options.cases, options.only.empty() ? "" : " of these names",
                             options.device.empty() ? "cuda" : options.device)};
  if (options.json)
    say("{}\n",
        jsonText(
            Json{{"passed", passed}, {"failed", failed}, {"left_out", leftOut}, {"cases", lines}}));
  else
    say("selftest: {} passed, {} failed{}\n", passed, failed,
        leftOut ? fmt::format(", {} left out", leftOut) : "");
  if (failed)
    return Error{fmt::format("{} of {} cases failed", failed, passed + failed)};
  return {};
}

} // namespace hybrid::rt::lab
