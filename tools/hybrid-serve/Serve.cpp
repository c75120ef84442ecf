//===- Serve.cpp - hybrid-run serve: a language model for clients ------------------===//
#include "tools/hybrid-serve/Serve.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/serve/HttpServer.h"

namespace hybrid::tools {

void addServing(CLI::App &verb) {
  auto arguments = std::make_shared<rt::ServeOptions>();
  addLanguageModel(verb, arguments->model);
  verb.add_option("--host", arguments->host,
                  "address to listen on; other machines reach any but a loopback address")
      ->capture_default_str();
  verb.add_option("--port", arguments->port, "0: one that is free")
      ->check(Range(0, 65535))
      ->capture_default_str();
  verb.add_option("--name", arguments->name, "what clients call the model (default: its file's)");
  auto count = [&](const char *flag, auto &value, auto most, const char *text) {
    using Value = std::remove_reference_t<decltype(value)>;
    verb.add_option(flag, value, text)
        ->check(Range(Value{1}, static_cast<Value>(most)))
        ->capture_default_str();
  };
  count("--max-tokens", arguments->limits.tokens, 1 << 24, "tokens that a completion may add");
  count("--max-request", arguments->bodyBytes, 1 << 30, "bytes of a request");
  count("--in-work", arguments->service.inWork, 1024,
        "requests that go on together, each in a row of the model");
  count("--queue", arguments->service.waiting, 1 << 20, "requests that may wait behind them");
  count("--connections", arguments->connections, 4096, "clients at a time");
  count("--patience", arguments->patienceSeconds, 3600,
        "seconds for a client that neither reads nor writes");
  verb.callback([arguments] { require(rt::serveModel(*arguments)); });
}

} // namespace hybrid::tools
