//===- Collectives.cpp - what ranks do together touches what is theirs ------===//
#include "executable/Limits.h"
#include "runtime/verifier/Verifier.h"
#include <tuple>

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

Result<void> Verifier::checkExchange(const fb::Exchange &exchange, const std::string &where) {
  using Pattern = fb::RankPattern;
  const Pattern pattern = exchange.pattern();
  if (onCuda || loop)
    return error("corrupt: {} goes over ranks, which it cannot {}", where,
                 onCuda ? "on a GPU" : "in a loop over tiles");
  if (pattern < Pattern::MIN || pattern > Pattern::MAX || exchange.ranks() < 2 ||
      exchange.ranks() > mostRanks)
    return error("corrupt: {} is of pattern {} of {} ranks", where, static_cast<int>(pattern),
                 exchange.ranks());
  const bool all = pattern == Pattern::All,
             sends = all || pattern == Pattern::ToNext || pattern == Pattern::ToPrevious,
             receives = all || !sends;
  const std::tuple<const char *, const fb::BufferRef *, bool, bool> buffers[] = {
      {"what is sent by", exchange.send(), sends, false},
      {"what is received by", exchange.receive(), receives, true}};
  for (const auto &[name, buffer, wanted, isWritten] : buffers) {
    if (wanted != (buffer != nullptr))
      return error("corrupt: {} {} is {}", name, where, wanted ? "missing" : "there");
    if (!buffer)
      continue;
    if (auto done = checkBuffer(*buffer, fmt::format("{} {}", name, where)); !done)
      return done;
    if (buffer->space() == fb::Space::Tile || (isWritten && !mayWrite(*buffer)))
      return error("corrupt: {} {} lies in space {}", name, where,
                   fb::EnumNameSpace(buffer->space()));
    if (all && (buffer->bytes() != exchange.send()->bytes() ||
                buffer->bytes() % static_cast<uint64_t>(exchange.ranks())))
      return error("corrupt: {} {} has {} bytes, expected equal parts for {} ranks", name, where,
                   buffer->bytes(), exchange.ranks());
    if (pattern == Pattern::Place && (buffer->bytes() != 4 || buffer->offset() % 4))
      return error("corrupt: {} {} has {} bytes at offset {}, expected an i32", name, where,
                   buffer->bytes(), buffer->offset());
  }
  return {};
}

Result<void> Verifier::checkAwait(const fb::Await &await, const std::string &where) {
  return checkOverRanks(await.buffers(), where);
}

} // namespace hybrid::rt::verifier
