//===- HttpServer.cpp - a language model for clients on this machine ----------------===//
#include "training/serve/HttpServer.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/Signals.h"
#include "training/serve/CompletionAnswer.h"
#include "training/serve/Connections.h"
#include "training/serve/TokenRequest.h"
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <httplib.h>
#include <random>

namespace hybrid::rt {
namespace {

using nlohmann::json;

void answer(httplib::Response &response, const json &value, int status = 200) {
  response.status = status;
  response.set_content(jsonLine(value), "application/json");
}

void refuse(httplib::Response &response, const RequestFault &fault) {
  if (fault.status == 503)
    response.set_header("Retry-After", "1");
  answer(response, errorAnswer(fault), fault.status);
}

/// What handlers share; they run on threads of their own.
class Handlers {
public:
  Handlers(const ServeOptions &options, const LanguageModel &model, CompletionService &service,
           std::string name)
      : options(options), model(model), service(service), name(std::move(name)),
        seeds(std::random_device{}()) {}

  void addTo(httplib::Server &server) {
    server.Get("/health", [this](const httplib::Request &, httplib::Response &response) {
      answer(response, {{"status", "ok"}, {"requests", service.requests()}});
    });
    server.Get("/v1/models", [this](const httplib::Request &, httplib::Response &response) {
      const json one = {{"id", name}, {"object", "model"}, {"created", 0}, {"owned_by", "hybrid"}};
      answer(response, {{"object", "list"}, {"data", json::array({one})}});
    });
    server.Get("/tokenizer_info", [this](const httplib::Request &, httplib::Response &response) {
      answer(response, tokenizerInfo(model.tokenizer()));
    });
    addTokens(server, "/tokenize", answerTokenize);
    addTokens(server, "/detokenize", answerDetokenize);
    server.Post("/v1/completions",
                [this](const httplib::Request &, httplib::Response &response,
                       const httplib::ContentReader &read) { complete(response, read); });
    server.set_error_handler([](const httplib::Request &request, httplib::Response &response) {
      if (!response.body.empty())
        return;
      const std::string what = response.status == 404
                                   ? fmt::format("there is no {} {}", request.method, request.path)
                                   : "this is no request that the server understands";
      answer(response, errorAnswer({response.status, "", what}), response.status);
    });
  }

private:
  void addTokens(httplib::Server &server, const char *path,
                 std::optional<RequestFault> (*read)(std::string_view, const Tokenizer &, json &)) {
    server.Post(path, [this, read](const httplib::Request &, httplib::Response &response,
                                   const httplib::ContentReader &content) {
      std::string body;
      json result;
      if (!readBody(response, content, body))
        return;
      if (auto fault = read(body, model.tokenizer(), result))
        return refuse(response, *fault);
      answer(response, result);
    });
  }

  /// False: the body was refused.
  bool readBody(httplib::Response &response, const httplib::ContentReader &read,
                std::string &body) const {
    bool isLarge = false;
    const bool whole = read([&](const char *data, size_t size) {
      isLarge = body.size() + size > options.bodyBytes;
      if (!isLarge)
        body.append(data, size);
      return !isLarge;
    });
    if (isLarge || response.status == 413)
      refuse(response,
             {413, "", fmt::format("the body has more than {} bytes", options.bodyBytes)});
    else if (!whole)
      refuse(response, {400, "", "the body could not be read to its end"});
    return whole && !isLarge;
  }

  void complete(httplib::Response &response, const httplib::ContentReader &read) {
    std::string body;
    if (!readBody(response, read, body))
      return;
    CompletionRequest request;
    if (auto fault = readCompletionRequest(body, model, name, options.limits, seeds++, request))
      return refuse(response, *fault);
    const bool streams = request.stream;
    std::shared_ptr<CompletionService::Job> job = service.submit(std::move(request));
    if (!job)
      return refuse(response, {503, "",
                               fmt::format("{} requests wait already: try again later",
                                           options.service.waiting)});
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    auto made = std::make_shared<CompletionAnswer>(
        job->request(), model.tokenizer(), name, fmt::format("cmpl-{:016x}", ++answers),
        std::chrono::duration_cast<std::chrono::seconds>(now).count());
    if (streams)
      return stream(response, std::move(job), std::move(made));
    CompletionPiece piece;
    while (job->next(piece))
      made->add(piece);
    if (job->failure())
      return refuse(response, {500, "", job->failure()->message});
    answer(response, made->whole());
  }

  /// The provider runs once the headers are out; a client that does not read is given up when
  /// writing takes too long, and its job with it.
  static void stream(httplib::Response &response, std::shared_ptr<CompletionService::Job> job,
                     std::shared_ptr<CompletionAnswer> made) {
    response.set_header("Cache-Control", "no-cache");
    response.set_chunked_content_provider(
        "text/event-stream", [job, made](size_t, httplib::DataSink &sink) {
          CompletionPiece piece;
          std::string event;
          const bool isMore = job->next(piece);
          if (isMore)
            event = jsonLine(made->event(piece));
          else
            event = job->failure() ? jsonLine(errorAnswer({500, "", job->failure()->message}))
                                   : "[DONE]";
          event = "data: " + event + "\n\n";
          if (!sink.write(event.data(), event.size()))
            return false;
          if (!isMore)
            sink.done();
          return true;
        });
  }

  const ServeOptions &options;
  const LanguageModel &model;
  CompletionService &service;
  std::string name;
  std::atomic<uint64_t> seeds, answers = 0;
};

/// `listening` becomes the socket that clients connect to.
void setUp(httplib::Server &server, const ServeOptions &options, socket_t &listening) {
  server.new_task_queue = [&options] { return new Connections(options.connections); };
  // Not SO_REUSEPORT, which would let two servers share a port.
  server.set_socket_options([&listening](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    listening = socket;
  });
  server.set_payload_max_length(options.bodyBytes);
  server.set_read_timeout(options.patienceSeconds);
  server.set_write_timeout(options.patienceSeconds);
  server.set_keep_alive_timeout(options.patienceSeconds); // also of the first request
  server.set_keep_alive_max_count(1000);
  server.set_tcp_nodelay(true);
}

} // namespace

Result<void> serveModel(const ServeOptions &options) {
  LanguageModelChoice choice = options.model;
  choice.rows = static_cast<int64_t>(options.service.inWork);
  auto model = LanguageModel::open(choice);
  if (!model)
    return model.error();
  const std::string name = options.name.empty()
                               ? std::filesystem::path(options.model.model.path).stem().string()
                               : options.name;
  const StopSignals signals;
  CompletionService service(*model, options.service);
  httplib::Server server;
  socket_t listening = INVALID_SOCKET;
  setUp(server, options, listening);
  Handlers handlers(options, *model, service, name);
  handlers.addTo(server);
  const int port = options.port == 0
                       ? server.bind_to_any_port(options.host)
                       : (server.bind_to_port(options.host, options.port) ? options.port : -1);
  if (port < 0)
    return Error{fmt::format("cannot listen on {}:{}: another program may do so, or this machine "
                             "has no such address",
                             options.host, options.port)};
  // The library lets five clients wait until they are accepted, and the kernel resets others.
  ::listen(listening, SOMAXCONN);
  std::atomic<bool> isOver = false;
  std::thread listener([&] {
    server.listen_after_bind();
    isOver = true;
  });
  say("serving '{}' on http://{}:{}\n", name, options.host, port);
  std::fflush(stdout);
  while (!signals.received() && !isOver)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  service.stop(); // so that no client waits any more
  server.stop();
  listener.join();
  if (!signals.received())
    return Error{fmt::format("listening on {}:{} ended by itself", options.host, port)};
  say("stopped by {}\n", signals.received());
  return {};
}

} // namespace hybrid::rt
