//===- Forward.cpp - a model run once on arrays -----------------------------------===//
#include "training/arrays/Forward.h"
#include "runtime/InputIds.h"
#include "runtime/files/File.h"
#include "training/ParameterFile.h"
#include "training/arrays/TensorInput.h"
#include "training/compile/OpenModel.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

/// Writes NAME=FILE into a program's input; returns the input's name.
Result<std::string> setInput(Session &session, const ProgramInfo &program, const std::string &text,
                             const std::string &prefix) {
  auto given = TensorInput::parse(text);
  if (!given)
    return given.error();
  auto info = findTensor(program.inputs, given->name, prefix, prefix.empty() ? "input" : "output");
  if (!info)
    return info.error();
  auto bytes = given->bytesFor((*info)->shape, (*info)->dtype);
  if (!bytes)
    return bytes.error();
  if (auto sound =
          checkIds(session.executable(), program.name, (*info)->name, *bytes, (*info)->shape);
      !sound)
    return Error{fmt::format("{}: {}", given->source, sound.error().message)};
  std::span<std::byte> memory = session.input(program.name, (*info)->name);
  std::memcpy(memory.data(), bytes->data(), memory.size());
  return (*info)->name;
}

Result<void> setInputs(Session &session, const ProgramInfo &program,
                       const ForwardOptions &options) {
  for (const TensorInfo &input : program.inputs) {
    std::span<std::byte> bytes = session.input(program.name, input.name);
    std::memset(bytes.data(), 0, bytes.size());
  }
  std::vector<std::string> given;
  for (auto [texts, prefix] :
       {std::pair(&options.inputs, ""), std::pair(&options.cotangents, "cotangent.")})
    for (const std::string &text : *texts) {
      auto name = setInput(session, program, text, prefix);
      if (!name)
        return name.error();
      given.push_back(*name);
    }
  for (const TensorInfo &input : program.inputs)
    if (!input.name.starts_with("cotangent.") &&
        std::find(given.begin(), given.end(), input.name) == given.end())
      return Error{fmt::format("input '{}' {} is not given: add --input {}=FILE.npy", input.name,
                               input.shapeText(), input.name)};
  return {};
}

Result<void> setParameters(Session &session, const ForwardOptions &options) {
  if (options.parameters.empty() && !options.seed && !session.executable().parameters().empty())
    return Error{"the model has parameters: give --params FILE.safetensors or --init-seed N"};
  if (options.seed)
    if (auto done = session.initialize(*options.seed); !done)
      return done;
  if (!options.parameters.empty())
    if (auto done = loadParameters(session, options.parameters); !done)
      return done;
  return options.saved.empty() ? Result<void>() : saveParameters(session, options.saved);
}

Result<void> writeResults(Session &session, const ProgramInfo &program, const std::string &folder) {
  if (auto done = makeFolder(folder); !done)
    return done;
  auto write = [&](const std::string &name, const TensorInfo &info,
                   std::span<const std::byte> bytes) {
    return writeNpy(folder + "/" + name + ".npy", info.dtype, info.shape, bytes);
  };
  for (const TensorInfo &output : program.outputs)
    if (auto done = write(output.name.starts_with("grad.") ? output.name : "output." + output.name,
                          output, session.output(program.name, output.name));
        !done)
      return done;
  const auto &parameters = session.executable().parameters();
  for (size_t i = 0; program.name == "vjp" && i < parameters.size(); ++i)
    if (parameters[i].trainable)
      if (auto done = write("grad." + parameters[i].name, parameters[i],
                            session.parameter(i, Session::Slot::Gradient));
          !done)
        return done;
  return {};
}

} // namespace

Result<void> runForward(const ForwardOptions &options) {
  auto created = openOneReplica(options.model, {options.threads});
  if (!created)
    return created.error();
  Session &session = **created;
  if (auto done = setParameters(session, options); !done)
    return done;
  const char *name = options.cotangents.empty() ? "forward" : "vjp";
  const ProgramInfo *program = session.executable().findProgram(name);
  if (!program)
    return Error{fmt::format("{} has no program '{}'", session.executable().name(), name)};
  if (auto done = setInputs(session, *program, options); !done)
    return done;
  if (auto done = session.run(program->name); !done)
    return done;
  return writeResults(session, *program, options.out);
}

} // namespace hybrid::rt
