//===- Forward.cpp - hybrid-run forward: outputs and gradients as arrays -----------===//
#include "runtime/Session.h"
#include "runtime/data/Npy.h"
#include "tools/hybrid-run/ModelArgument.h"
#include "tools/hybrid-run/ParameterFile.h"
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::tools {
namespace {

struct ForwardOptions {
  ModelArgument model;
  std::string parameters, out;
  std::optional<uint64_t> seed;
  std::vector<std::string> inputs, cotangents;
  int threads = 0;
};

/// `2x3xf32=1,2,3,4,5,6`
std::optional<rt::NpyArray> parseInline(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    return std::nullopt;
  rt::NpyArray array;
  std::string head = text.substr(0, equals), values = text.substr(equals + 1);
  size_t cross = head.rfind('x');
  std::string type = cross == std::string::npos ? head : head.substr(cross + 1);
  if (type != "f32" && type != "f64" && type != "i32")
    return std::nullopt;
  array.element = type == "i32" ? rt::NpyArray::Element::I64 : rt::NpyArray::Element::F64;
  for (size_t at = 0; cross != std::string::npos && at < cross;) {
    size_t next = std::min(head.find('x', at), cross);
    array.shape.push_back(std::atoll(head.substr(at, next - at).c_str()));
    at = next + 1;
  }
  for (size_t at = 0; at <= values.size();) {
    size_t next = std::min(values.find(',', at), values.size());
    std::string item = values.substr(at, next - at);
    char *end = nullptr;
    double value = std::strtod(item.c_str(), &end);
    int64_t integer = std::atoll(item.c_str());
    if (item.empty() || *end)
      throw Failure(fmt::format("'{}' is not a number, in {}", item, text));
    const auto *bytes = array.element == rt::NpyArray::Element::I64
                            ? reinterpret_cast<const std::byte *>(&integer)
                            : reinterpret_cast<const std::byte *>(&value);
    array.data.insert(array.data.end(), bytes, bytes + 8);
    at = next + 1;
  }
  if (static_cast<int64_t>(array.data.size()) != array.elements() * 8)
    throw Failure(fmt::format("{} values are given for shape [{}]", array.data.size() / 8,
                              fmt::join(array.shape, ", ")));
  return array;
}

/// Writes NAME=FILE into a program's input.
void setInput(rt::Session &session, const rt::ProgramInfo &program, const std::string &argument,
              const std::string &prefix, std::vector<std::string> &given) {
  size_t equals = argument.find('=');
  if (equals == std::string::npos)
    throw Failure(fmt::format("'{}': expected NAME=FILE.npy", argument));
  std::string name = prefix + argument.substr(0, equals), source = argument.substr(equals + 1);
  const rt::TensorInfo *info = nullptr;
  std::vector<std::string> known;
  for (const rt::TensorInfo &input : program.inputs) {
    if (input.name == name)
      info = &input;
    if (input.name.starts_with(prefix) &&
        (!prefix.empty() || !input.name.starts_with("cotangent.")))
      known.push_back(input.name.substr(prefix.size()));
  }
  if (!info)
    throw Failure(fmt::format("the model has no {} '{}'; it has {}",
                              prefix.empty() ? "input" : "output", name.substr(prefix.size()),
                              known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  std::optional<rt::NpyArray> array = parseInline(source);
  if (!array)
    array = valueOf(rt::readNpy(source));
  if (array->shape != info->shape)
    throw Failure(fmt::format("{}: '{}' is [{}], but the model was compiled for {}", source, name,
                              fmt::join(array->shape, ", "), info->shapeText()));
  std::vector<std::byte> bytes = valueOf(array->convertedTo(info->dtype, name));
  std::span<std::byte> target = session.input(program.name, name);
  std::memcpy(target.data(), bytes.data(), target.size());
  given.push_back(name);
}

void run(const ForwardOptions &options) {
  auto executable = options.model.load();
  auto session = valueOf(rt::Session::create(executable, {options.threads}));
  if (options.parameters.empty() && !options.seed && !executable->parameters().empty())
    throw Failure("the model has parameters: give --params FILE.safetensors or --init-seed N");
  if (options.seed)
    require(session->initialize(*options.seed));
  if (!options.parameters.empty())
    loadParameters(*session, options.parameters);
  const rt::ProgramInfo *program =
      executable->findProgram(options.cotangents.empty() ? "forward" : "vjp");
  if (!program)
    throw Failure(fmt::format("{} has no program '{}'", executable->name(),
                              options.cotangents.empty() ? "forward" : "vjp"));
  std::vector<std::string> given;
  for (const rt::TensorInfo &input : program->inputs) {
    std::span<std::byte> bytes = session->input(program->name, input.name);
    std::memset(bytes.data(), 0, bytes.size());
  }
  for (const std::string &input : options.inputs)
    setInput(*session, *program, input, "", given);
  for (const std::string &cotangent : options.cotangents)
    setInput(*session, *program, cotangent, "cotangent.", given);
  for (const rt::TensorInfo &input : program->inputs)
    if (!input.name.starts_with("cotangent.") &&
        std::find(given.begin(), given.end(), input.name) == given.end())
      throw Failure(fmt::format("input '{}' {} is not given: add --input {}=FILE.npy", input.name,
                                input.shapeText(), input.name));
  require(session->run(program->name));

  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error)
    throw Failure(fmt::format("cannot make the folder '{}': {}", options.out, error.message()));
  auto write = [&](const std::string &name, const rt::TensorInfo &info,
                   std::span<const std::byte> bytes) {
    require(rt::writeNpy((std::filesystem::path(options.out) / (name + ".npy")).string(),
                         info.dtype, info.shape, bytes));
  };
  for (const rt::TensorInfo &output : program->outputs)
    write(output.name.starts_with("grad.") ? output.name : "output." + output.name, output,
          session->output(program->name, output.name));
  if (program->name == "vjp")
    for (size_t i = 0; i < executable->parameters().size(); ++i)
      if (executable->parameters()[i].trainable)
        write("grad." + executable->parameters()[i].name, executable->parameters()[i],
              session->parameter(i, rt::Session::Slot::Gradient));
}

} // namespace

void addForward(CLI::App &app) {
  auto *verb = app.add_subcommand("forward",
                                  "run a model once on arrays; with cotangents also its gradients");
  auto options = std::make_shared<ForwardOptions>();
  options->model.addTo(*verb);
  verb->add_option("--params", options->parameters, "parameters (.safetensors)");
  verb->add_option("--init-seed", options->seed, "draw the parameters from this seed instead");
  verb->add_option("--input", options->inputs,
                   "NAME=FILE.npy or NAME=2x3xf32=1,2,...; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--cotangent", options->cotangents,
                   "NAME=FILE.npy: weight of an output in the scalar that is differentiated")
      ->allow_extra_args(false);
  verb->add_option("--out", options->out, "folder for output.NAME.npy and grad.NAME.npy")
      ->required();
  verb->add_option("--threads", options->threads, "threads (default: all)");
  verb->callback([options] { run(*options); });
}

} // namespace hybrid::tools
