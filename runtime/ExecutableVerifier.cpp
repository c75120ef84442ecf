//===- ExecutableVerifier.cpp - nothing in a .hyx is trusted before this ----===//
#include "runtime/ExecutableVerifier.h"
#include "executable/Limits.h"
#include "runtime/verifier/Verifier.h"
#include <algorithm>
#include <unordered_set>

namespace hybrid::rt {

namespace verifier {

bool isSoundName(std::string_view name) {
  return !name.empty() && name.size() <= mostNameBytes &&
         std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/';
         });
}

Result<void> Verifier::run() {
  if (executable.version_major() < 1 || executable.version_major() > formatMajor)
    return error(
        "format version {}.{}, but this hybrid-run reads versions up to {}; compile the model "
        "again with the hybridc of this release",
        executable.version_major(), executable.version_minor(), formatMajor);
  if (Result<void> done = checkTarget(); !done)
    return done;
  if (Result<void> done = checkSpaces(); !done)
    return done;
  if (Result<void> done = checkReplicas(); !done)
    return done;
  if (Result<void> done = checkParameters(); !done)
    return done;
  if (executable.settings())
    for (const fb::Setting *setting : *executable.settings())
      if (!isSoundName(viewOf(setting->name())))
        return error("corrupt: a setting has no sound name");
  if (Result<void> done = kernels.read(executable); !done)
    return done;
  std::unordered_set<std::string_view> names;
  if (!executable.programs() || executable.programs()->size() == 0)
    return error("corrupt: it holds no program");
  for (const fb::Program *program : *executable.programs()) {
    if (!isSoundName(viewOf(program->name())))
      return error("corrupt: a program has no sound name");
    if (!names.insert(viewOf(program->name())).second)
      return error("corrupt: two programs are named '{}'", viewOf(program->name()));
    if (Result<void> done = checkProgram(*program); !done)
      return done;
  }
  if (auto done = checkExamples(); !done)
    return done;
  return checkStretches();
}

/// The programs have been checked.
/// They lie among the parameters, one behind the other.
Result<void> Verifier::checkStretches() const {
  const auto *stretches = executable.shared();
  if (!stretches || stretches->size() == 0)
    return {};
  if (onCuda || executable.replicas() != 1)
    return error("corrupt: ranks share its optimizer's state, expected one replica on a CPU");
  if (!isAligned(*stretches))
    return error("corrupt: the stretches that ranks share are misaligned in the file");
  uint64_t end = 0;
  for (const fb::BufferRef *stretch : *stretches) {
    const uint64_t most = parametersEnd();
    if (stretch->space() != fb::Space::Parameters || stretch->offset() < end ||
        stretch->offset() % 4 || stretch->bytes() % 4 || stretch->offset() > most ||
        stretch->bytes() > most - stretch->offset())
      return error(
          "corrupt: ranks share {} bytes at offset {} of space {}, expected some of the {} "
          "bytes of parameters behind the first {}",
          stretch->bytes(), stretch->offset(), fb::EnumNameSpace(stretch->space()), most, end);
    end = stretch->offset() + stretch->bytes();
  }
  return {};
}

Result<void> Verifier::checkExamples() const {
  const fb::ExampleGather *gather = executable.examples();
  if (!gather)
    return {};
  if (!onCuda)
    return error("corrupt: it is for the device 'cpu', but gathers batches on a GPU");
  const std::string_view names[] = {viewOf(gather->symbol()), viewOf(gather->program()),
                                    viewOf(gather->inputs()), viewOf(gather->targets())};
  for (std::string_view name : names)
    if (!isSoundName(name))
      return error("corrupt: what gathers batches has no sound name");
  constexpr int64_t mostGathering = int64_t(1) << 20; // a step; a burst has at most some hundred
  if (gather->grid() < 1 || gather->grid() > mostGathering || gather->threads() < 32 ||
      gather->threads() > 1024 || gather->threads() % 32)
    return error("corrupt: batches are gathered by {} blocks of {} threads", gather->grid(),
                 gather->threads());
  int64_t rows = 0;
  int found = 0;
  for (const fb::Program *program : *executable.programs()) {
    if (viewOf(program->name()) != names[1] || !program->inputs() || names[2] == names[3])
      continue;
    for (const fb::Tensor *tensor : *program->inputs()) {
      const std::string_view name = viewOf(tensor->name());
      const auto *shape = tensor->shape();
      const bool named = name == names[2] || name == names[3];
      const bool isBatch = shape && shape->size() > 0 && shape->Get(0) > 0 &&
                           bytesOf(static_cast<DType>(tensor->dtype())) == 4 &&
                           tensor->buffer()->bytes() > 0 && tensor->buffer()->offset() % 16 == 0 &&
                           (rows == 0 || rows == shape->Get(0));
      if (!named || !isBatch)
        return error("corrupt: input '{}' of program '{}' is no batch of examples", name, names[1]);
      rows = shape->Get(0);
      ++found;
    }
  }
  if (found != 2)
    return error(
        "corrupt: batches are gathered for program '{}', which has no inputs '{}' and '{}'",
        names[1], names[2], names[3]);
  return {};
}

} // namespace verifier

Result<void> verifyExecutable(const fb::Executable &executable) {
  return verifier::Verifier(executable).run();
}

} // namespace hybrid::rt
