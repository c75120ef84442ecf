//===- FuzzExecution.cpp - executables that are run after they were changed --------===//
//
// Whatever a changed executable says of its programs: the loader refuses it, or running it touches
// nothing that is not its own. The machine code itself stays as it was made, for it can do anything
// (who may run whose code is another question); seeds are executables that hybridc made for this
// machine, which tools/check --long writes beforehand. A mutator of our own changes bytes and words
// outside of the code, and never the size of the file; the seal behind them is left out.
//
//===----------------------------------------------------------------------===//
#include "executable/Executable_generated.h"
#include "executable/Seal.h"
#include "runtime/Executable.h"
#include "runtime/Session.h"
#include <cstring>
#include <random>
#include <set>
#include <vector>
#include <xxhash.h>

using namespace hybrid;
using namespace hybrid::rt;

namespace {

/// Where the machine code lies; empty: the bytes are no executable.
std::span<const uint8_t> codeOf(const uint8_t *data, size_t size) {
  if (size < 2 * sealBytes)
    return {};
  flatbuffers::Verifier verifier(data, size - sealBytes);
  if (!fb::VerifyExecutableBuffer(verifier))
    return {};
  const auto *code = fb::GetExecutable(data)->code();
  if (!code || code->size() == 0)
    return {};
  return {code->data(), code->size()};
}

/// Hashes of the code in the seeds. Only what the mutator saw first is trusted.
std::set<uint64_t> &trusted() {
  static auto *hashes = new std::set<uint64_t>();
  return *hashes;
}

uint64_t hashOf(std::span<const uint8_t> code) { return XXH3_64bits(code.data(), code.size()); }

void change(uint8_t *data, size_t size, std::mt19937 &random) {
  auto at = [&](size_t bytes) { return random() % (size - bytes + 1); };
  switch (random() % 5) {
  case 0: // a bit
    data[at(1)] ^= static_cast<uint8_t>(1U << (random() % 8));
    break;
  case 1: { // a byte that means something
    static const uint8_t telling[] = {0, 1, 2, 3, 4, 0x7f, 0x80, 0xff};
    data[at(1)] = telling[random() % std::size(telling)];
    break;
  }
  case 2:
  case 3: { // a number, a little or by much off
    const size_t bytes = random() % 2 ? 4 : 8, place = at(bytes) & ~size_t(3);
    uint64_t number = 0;
    std::memcpy(&number, data + place, bytes);
    static const int64_t steps[] = {1, -1, 4, -4, 8, 64, -64, 4096, 1 << 20, INT64_MAX, INT64_MIN};
    number += static_cast<uint64_t>(steps[random() % std::size(steps)]);
    std::memcpy(data + place, &number, bytes);
    break;
  }
  default: { // a number from elsewhere
    const size_t bytes = random() % 2 ? 4 : 8;
    std::memmove(data + (at(bytes) & ~size_t(3)), data + (at(bytes) & ~size_t(3)), bytes);
    break;
  }
  }
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t, unsigned seed) {
  std::span<const uint8_t> code = codeOf(data, size);
  if (code.empty())
    return size;
  const size_t content = size - sealBytes;
  const size_t first = static_cast<size_t>(code.data() - data);
  const std::vector<uint8_t> kept(code.begin(), code.end());
  std::mt19937 random(seed);
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
    change(data, content, random);
  std::copy(kept.begin(), kept.end(), data + first);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const uint8_t> code = codeOf(data, size);
  if (code.empty())
    return 0;
  // The first inputs are the seeds, as they are; the fuzzer's own bytes are never called.
  static int seeds = 8;
  if (seeds > 0 && --seeds >= 0)
    trusted().insert(hashOf(code));
  if (!trusted().contains(hashOf(code)))
    return -1;
  const auto *bytes = reinterpret_cast<const std::byte *>(data);
  auto executable = Executable::fromBytes({bytes, bytes + size - sealBytes}, "fuzz.hyx");
  if (!executable)
    return 0;
  uint64_t work = 0;
  for (const ProgramInfo &program : (*executable)->programs())
    for (const auto *ports : {&program.inputs, &program.outputs})
      for (const TensorInfo &tensor : *ports)
        work += static_cast<uint64_t>(std::max<int64_t>(0, tensor.elements()));
  if (work > (1U << 24))
    return 0; // slow, not wrong
  auto session = Session::create(*executable, {1, true});
  if (!session)
    return 0;
  if (!(*session)->initialize(1))
    return 0;
  for (const ProgramInfo &program : (*executable)->programs()) {
    for (const TensorInfo &input : program.inputs) {
      std::span<std::byte> memory = (*session)->input(program.name, input.name);
      std::memset(memory.data(), 0, memory.size());
    }
    if (!(*session)->run(program.name))
      continue;
    volatile unsigned sum = 0;
    for (const TensorInfo &output : program.outputs)
      for (std::byte byte : (*session)->output(program.name, output.name))
        sum = sum + static_cast<unsigned>(byte);
  }
  return 0;
}
