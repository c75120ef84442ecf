//===- Signals.cpp - being asked to stop -------------------------------------===//
#include "training/Signals.h"
#include <csignal>
#include <cstddef>
#include <unistd.h>

namespace hybrid::rt {
namespace {

// A signal handler can only reach what is global.
volatile std::sig_atomic_t lastSignal = 0;
constexpr int handled[] = {SIGTERM, SIGUSR1, SIGINT};
struct sigaction previous[3];

void onSignal(int signal) {
  if (signal == SIGINT && lastSignal == SIGINT)
    _exit(130);
  lastSignal = signal;
}

} // namespace

StopSignals::StopSignals() {
  lastSignal = 0;
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < 3; ++i)
    sigaction(handled[i], &action, &previous[i]);
}

StopSignals::~StopSignals() {
  lastSignal = 0;
  for (size_t i = 0; i < 3; ++i)
    sigaction(handled[i], &previous[i], nullptr);
}

const char *StopSignals::received() const { return pending(); }

const char *StopSignals::pending() {
  switch (lastSignal) {
  case 0:
    return nullptr;
  case SIGTERM:
    return "SIGTERM";
  case SIGUSR1:
    return "SIGUSR1";
  default:
    return "SIGINT";
  }
}

} // namespace hybrid::rt
