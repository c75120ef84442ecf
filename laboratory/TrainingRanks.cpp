//===- TrainingRanks.cpp - the processes that a training was started as -------------===//
#include "laboratory/TrainingRanks.h"
#include "runtime/files/Print.h"
#include "runtime/ranks/LocalRanks.h"
#include "runtime/ranks/OpenRanks.h"
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>

namespace hybrid::rt::lab {

Result<std::shared_ptr<Communicator>> joinRanks(const RankOptions &options) {
  const int started = ranksStarted();
  if (started == 1 && !options.dataParallel && options.sequenceParallel == 1)
    return std::shared_ptr<Communicator>();
  const int64_t parts = options.sequenceParallel;
  if (started % parts != 0)
    return Error{fmt::format("--sequence-parallel {}: {}; start a multiple of {} with "
                             "`mpirun -n {} hybrid-run train ...` or srun",
                             parts,
                             started == 1
                                 ? std::string("this process was started alone")
                                 : fmt::format("{} processes were started together", started),
                             parts, parts)};
  if (options.dataParallel && *options.dataParallel * parts != started)
    return Error{started == 1
                     ? fmt::format("--data-parallel {}: this process was started alone; start as "
                                   "many with `mpirun -n {} hybrid-run train ...` or srun",
                                   *options.dataParallel, *options.dataParallel)
                     : fmt::format("--data-parallel {}: {} processes were started together; give "
                                   "{}, or leave it out",
                                   *options.dataParallel, started, started / parts)};
  std::unique_ptr<Transport> transport;
  if (started == 1) {
    transport = std::move(makeLocalRanks(1).front());
  } else {
    auto opened = openRanks();
    if (!opened)
      return opened.error();
    transport = std::move(*opened);
    if (transport->size() != started)
      return Error{fmt::format("{} processes were started together, but MPI knows of {}: they were "
                               "started by the launcher of another MPI than this build's",
                               started, transport->size())};
  }
  return std::make_shared<Communicator>(emulate(std::move(transport), options.link));
}

Result<EmulatedLink> linkOf(const std::string &text) {
  EmulatedLink link;
  char *end = nullptr;
  link.delaySeconds = std::strtod(text.c_str(), &end);
  bool sound = end != text.c_str() && *end == ',';
  if (sound) {
    const char *rate = end + 1;
    link.bytesPerSecond = std::strtod(rate, &end);
    sound = end != rate && *end == '\0';
  }
  if (!sound || !(link.delaySeconds >= 0 && link.delaySeconds <= 10) ||
      !(link.bytesPerSecond >= 1000 && link.bytesPerSecond <= 1e15))
    return Error{fmt::format("--emulate-link {}: expected DELAY,RATE in seconds and bytes per "
                             "second, as in 50e-6,1e9",
                             text)};
  return link;
}

Result<void> endTogether(const std::shared_ptr<Communicator> &ranks, const Result<void> &outcome) {
  if (!ranks || ranks->size() == 1 || outcome)
    return outcome;
  say(stderr, "error: rank {} of {}: {}\n", ranks->rank(), ranks->size(), outcome.error().message);
  std::fflush(stderr);
  // What fails on every rank the first one tells, and writes its report: it ends them then.
  if (!ranks->isFirst())
    std::this_thread::sleep_for(std::chrono::seconds(2));
  ranks->abandon();
  return outcome;
}

} // namespace hybrid::rt::lab
