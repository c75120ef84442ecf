//===- HttpServer.h - a language model for clients on this machine -----------------===//
#pragma once
#include "training/serve/CompletionService.h"

namespace hybrid::rt {

struct ServeOptions {
  LanguageModelChoice model;
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: one that is free
  std::string name; // of the model, for clients; empty: its file's
  CompletionLimits limits;
  ServiceLimits service;
  size_t connections = 64;            // at a time
  size_t bodyBytes = size_t{4} << 20; // of a request
  int patienceSeconds = 10;           // for a client that does not read or write
};

/// Serves until SIGINT or SIGTERM. Prints where, as soon as clients may come.
Result<void> serveModel(const ServeOptions &options);

} // namespace hybrid::rt
