//===- Transport.cpp - bytes between the ranks of a job -----------------------===//
#include "runtime/ranks/Transport.h"

namespace hybrid::rt {

Result<void> Transport::exchange(std::span<const std::span<const std::byte>> send,
                                 std::span<const std::span<std::byte>> receive) {
  for (size_t other = 0; other < send.size(); ++other)
    if (other != static_cast<size_t>(rank()))
      sent += send[other].size();
  return pass(send, receive);
}

} // namespace hybrid::rt
