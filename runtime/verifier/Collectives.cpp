//===- Collectives.cpp - what ranks do together touches what is theirs ------===//
#include "executable/Limits.h"
#include "runtime/verifier/Verifier.h"

namespace hybrid::rt::verifier {

Result<void> Verifier::checkOverRanks(const flatbuffers::Vector<const fb::BufferRef *> *buffers,
                                      const std::string &where) {
  if (onCuda || loop)
    return error("corrupt: {} goes over ranks, which it cannot {}", where,
                 onCuda ? "on a GPU" : "in a loop over tiles");
  if (!buffers)
    return {};
  if (!isAligned(*buffers))
    return error("corrupt: the buffers of {} are misaligned in the file", where);
  buffersSeen += buffers->size();
  if (buffersSeen > mostBuffers)
    return error("corrupt: {} and those before it touch more than {} buffers", where, mostBuffers);
  for (const fb::BufferRef *buffer : *buffers) {
    if (auto done = checkBuffer(*buffer, fmt::format("a buffer of {}", where)); !done)
      return done;
    if (buffer->space() == fb::Space::Tile || !mayWrite(*buffer))
      return error("corrupt: {} writes to space {}, which only other programs change", where,
                   fb::EnumNameSpace(buffer->space()));
  }
  return {};
}

Result<void> Verifier::checkAllReduce(const fb::AllReduce &reduction, const std::string &where) {
  const fb::DType type = reduction.dtype(), wire = reduction.wire();
  if ((type != fb::DType::F32 && type != fb::DType::F64) ||
      (wire != type && wire != fb::DType::BF16))
    return error("corrupt: {} reduces elements of type {} sent as type {}", where,
                 static_cast<unsigned>(type), static_cast<unsigned>(wire));
  if (auto done = checkOverRanks(reduction.buffers(), where); !done)
    return done;
  const auto size = static_cast<uint64_t>(bytesOf(static_cast<DType>(type)));
  if (!reduction.buffers() || reduction.buffers()->size() == 0)
    return error("corrupt: {} reduces nothing", where);
  for (const fb::BufferRef *buffer : *reduction.buffers())
    if (buffer->bytes() % size || buffer->offset() % size)
      return error("corrupt: a buffer of {} has {} bytes at offset {}, elements of {}", where,
                   buffer->bytes(), buffer->offset(), size);
  const fb::BufferRef *weight = reduction.weight();
  if (!weight)
    return {};
  if (auto done = checkBuffer(*weight, "the weight of " + where); !done)
    return done;
  if (weight->bytes() != size || weight->offset() % size || weight->space() == fb::Space::Tile)
    return error("corrupt: the weight of {} has {} bytes at offset {} of space {}", where,
                 weight->bytes(), weight->offset(), fb::EnumNameSpace(weight->space()));
  return {};
}

Result<void> Verifier::checkAwait(const fb::Await &await, const std::string &where) {
  return checkOverRanks(await.buffers(), where);
}

} // namespace hybrid::rt::verifier
