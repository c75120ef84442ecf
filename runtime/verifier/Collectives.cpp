//===- Collectives.cpp - what ranks do together touches what is theirs ------===//
#include "executable/Limits.h"
#include "runtime/verifier/Verifier.h"
#include <tuple>

namespace hybrid::rt::verifier {

/// Tiles are not those of other ranks, and neither are replicas.
Result<void> Verifier::checkMeeting(const std::string &where) const {
  if (loop || executable.replicas() != 1)
    return error("corrupt: {} goes over ranks, which it cannot {}", where,
                 loop ? "in a loop over tiles" : "with several replicas");
  return {};
}

Result<void> Verifier::checkOverRanks(const flatbuffers::Vector<const fb::BufferRef *> *buffers,
                                      const std::string &where, bool writes) {
  if (auto done = checkMeeting(where); !done)
    return done;
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
    if (buffer->space() == fb::Space::Tile || (writes && !mayWrite(*buffer)))
      return error("corrupt: {} writes to space {}, which only other programs change", where,
                   fb::EnumNameSpace(buffer->space()));
  }
  return {};
}

Result<void> Verifier::checkAllReduce(const fb::AllReduce &reduction, const std::string &where) {
  const fb::DType type = reduction.dtype(), wire = reduction.wire();
  if ((type != fb::DType::F32 && type != fb::DType::F64) ||
      (wire != type && (onCuda || wire != fb::DType::BF16)))
    return error("corrupt: {} reduces elements of type {} sent as type {}", where,
                 static_cast<unsigned>(type), static_cast<unsigned>(wire));
  if (auto done = checkOverRanks(reduction.buffers(), where, /*writes=*/true); !done)
    return done;
  if (reduction.to_owners())
    if (auto done = checkShared(reduction.buffers(), fb::Space::Gradients, where); !done)
      return done;
  if (reduction.weighted() && (onCuda || !reduction.weight()))
    return error("corrupt: {} is of values weighted before, which it cannot {}", where,
                 onCuda ? "on a GPU" : "without a weight");
  if (reduction.release() && !reduction.to_owners())
    return error("corrupt: {} releases what it does not reduce to owners", where);
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
  if (auto done = checkMeeting(where); !done)
    return done;
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

Result<void> Verifier::checkShared(const flatbuffers::Vector<const fb::BufferRef *> *buffers,
                                   fb::Space space, const std::string &where) {
  if (onCuda || loop || programName == "setup")
    return error("corrupt: {} is of what ranks share, which it cannot {}", where,
                 onCuda ? "on a GPU"
                 : loop ? "in a loop over tiles"
                        : "in program 'setup'");
  if (!buffers || buffers->size() == 0)
    return error("corrupt: {} has no buffers", where);
  if (!isAligned(*buffers))
    return error("corrupt: the buffers of {} are misaligned in the file", where);
  buffersSeen += buffers->size();
  if (buffersSeen > mostBuffers)
    return error("corrupt: {} and those before it touch more than {} buffers", where, mostBuffers);
  const uint64_t end = parametersEnd();
  for (const fb::BufferRef *buffer : *buffers) {
    if (auto done = checkBuffer(*buffer, fmt::format("a buffer of {}", where)); !done)
      return done;
    if (buffer->space() != space || buffer->offset() > end ||
        buffer->bytes() > end - buffer->offset() || buffer->bytes() % 4)
      return error("corrupt: {} shares {} bytes at offset {} of space {}, expected some of the {} "
                   "bytes of space {}",
                   where, buffer->bytes(), buffer->offset(), fb::EnumNameSpace(buffer->space()),
                   end, fb::EnumNameSpace(space));
  }
  return {};
}

/// They only say which ranks run an item.
Result<void> Verifier::checkSpans(const fb::KernelLaunch &kernel, const std::string &where) const {
  const auto *spans = kernel.item_spans();
  if (!spans || spans->size() == 0)
    return {};
  if (onCuda || loop)
    return error("corrupt: {} ({}) is shared by ranks, which it cannot {}", where,
                 viewOf(kernel.symbol()), onCuda ? "on a GPU" : "in a loop over tiles");
  if (!isAligned(*spans))
    return error("corrupt: the spans of {} are misaligned in the file", where);
  const uint64_t space = executable.parameter_bytes();
  for (unsigned i = 0; i < spans->size(); ++i) {
    const fb::ItemSpan &span = *spans->Get(i);
    const int64_t end = i + 1 < spans->size() ? spans->Get(i + 1)->first() : kernel.grid();
    const bool inOrder = span.first() >= 0 && (i > 0 || span.first() == 0) && span.first() < end &&
                         end <= kernel.grid();
    if (!inOrder || span.bytes() == 0 || span.bytes() > space || span.offset() >= space ||
        static_cast<uint64_t>(end - span.first() - 1) > (space - span.offset()) / span.bytes())
      return error(
          "corrupt: {} ({}) has a span of items {} to {} of {} bytes each at offset {}, of "
          "{} items and {} bytes of parameters",
          where, viewOf(kernel.symbol()), span.first(), end, span.bytes(), span.offset(),
          kernel.grid(), space);
  }
  return {};
}

Result<void> Verifier::checkAwait(const fb::Await &await, const std::string &where) {
  return checkOverRanks(await.buffers(), where, /*writes=*/false);
}

} // namespace hybrid::rt::verifier
