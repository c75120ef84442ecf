//===- Forward.cpp - hybrid-run forward: outputs and gradients as arrays -----------===//
#include "runtime/Session.h"
#include "runtime/files/Npy.h"
#include "tools/hybrid-run/ModelArgument.h"
#include "tools/hybrid-run/ParameterFile.h"
#include "tools/hybrid-run/TensorArgument.h"
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::tools {
namespace {

struct ForwardOptions {
  ModelArgument model;
  std::string parameters, saved, out;
  std::optional<uint64_t> seed;
  std::vector<std::string> inputs, cotangents;
  int threads = 0;
};

/// Writes NAME=FILE into a program's input.
void setInput(rt::Session &session, const rt::ProgramInfo &program, const std::string &text,
              const std::string &prefix, std::vector<std::string> &given) {
  TensorArgument argument = TensorArgument::parse(text);
  const rt::TensorInfo &info =
      findTensor(program.inputs, argument.name, prefix, prefix.empty() ? "input" : "output");
  std::vector<std::byte> bytes = argument.bytesFor(info.shape, info.dtype);
  std::span<std::byte> target = session.input(program.name, info.name);
  std::memcpy(target.data(), bytes.data(), target.size());
  given.push_back(info.name);
}

void run(const ForwardOptions &options) {
  auto executable = options.model.load();
  auto session = valueOf(rt::Session::create(executable, {options.threads}));
  require(session->keepFirstActive());
  if (options.parameters.empty() && !options.seed && !executable->parameters().empty())
    throw Failure("the model has parameters: give --params FILE.safetensors or --init-seed N");
  if (options.seed)
    require(session->initialize(*options.seed));
  if (!options.parameters.empty())
    loadParameters(*session, options.parameters);
  if (!options.saved.empty())
    saveParameters(*session, options.saved);
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

  makeFolder(options.out);
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
  verb->add_option("--save-params", options->saved,
                   "write the parameters that are used (.safetensors)");
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
