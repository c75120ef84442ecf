//===- Signals.h - being asked to stop ---------------------------------------===//
//
// SIGTERM, SIGUSR1 and SIGINT ask the trainer to finish its step, save and leave (schedulers send
// them before a time limit). A second SIGINT ends the process at once with status 130.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace hybrid::rt {

class StopSignals {
public:
  /// Installs the handlers; the destructor restores the former ones. One at a time.
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;

  /// "SIGTERM", ... once a signal came; null before.
  const char *received() const;
  /// The same for whoever has no object; null where there is none.
  static const char *pending();
};

} // namespace hybrid::rt
