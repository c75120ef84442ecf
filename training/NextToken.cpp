//===- NextToken.cpp - what a language model expects next --------------------------===//
#include "training/NextToken.h"
#include "runtime/Decoder.h"
#include "runtime/files/Print.h"
#include "training/compile/Recompile.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

constexpr int64_t usualContext = 256; // of a text that says nothing

using SharedExecutable = std::shared_ptr<const Executable>;

//===-- with states ------------------------------------------------------------===//

class Decoding final : public NextToken {
public:
  static Result<std::unique_ptr<NextToken>> create(std::unique_ptr<Session> session) {
    auto decoder = Decoder::create(*session);
    if (!decoder)
      return decoder.error();
    return std::unique_ptr<NextToken>(new Decoding(std::move(session), *decoder));
  }

  int64_t vocabulary() const override { return decoder.vocabulary(); }
  Session &session() override { return *owned; }

  Result<void> expect(std::span<const int32_t> tokens, std::span<double> logits) override {
    const std::optional<int64_t> most = decoder.mostPositions();
    const bool isFull = most && static_cast<int64_t>(tokens.size() - start) > *most;
    if (isFull) // a model that numbers its positions goes on from the newest half of them
      start = tokens.size() - static_cast<size_t>((*most + 1) / 2);
    if (isFull || !started)
      if (auto done = decoder.restart(); !done)
        return done;
    started = true;
    const size_t from = start + static_cast<size_t>(decoder.position());
    if (auto done = decoder.take(tokens.subspan(from)); !done)
      return done;
    return decoder.logits(0, logits);
  }

private:
  Decoding(std::unique_ptr<Session> session, Decoder decoder)
      : owned(std::move(session)), decoder(decoder) {}

  std::unique_ptr<Session> owned;
  Decoder decoder;
  bool started = false; // with the parameters that there are by then
  size_t start = 0;     // the token whose position has the number 0
};

//===-- a window for every token -------------------------------------------------===//

struct Ports {
  const TensorInfo *tokens = nullptr, *logits = nullptr;
};

Result<Ports> portsOf(const Executable &executable) {
  const ProgramInfo *program = executable.findProgram("forward");
  if (!program || program->inputs.size() != 1 || program->inputs[0].dtype != DType::I32 ||
      program->inputs[0].shape.size() != 2)
    return Error{fmt::format(
        "{}: generating needs a program 'forward' with one input of tokens [batch, length]",
        executable.name())};
  const TensorInfo &tokens = program->inputs[0];
  const TensorInfo *logits = nullptr;
  for (const TensorInfo &output : program->outputs)
    if (output.shape.size() == 3 && output.dtype != DType::I32 &&
        output.shape[1] == tokens.shape[1] && (!logits || output.name == "logits"))
      logits = &output;
  if (!logits)
    return Error{
        fmt::format("{}: program 'forward' has no output of logits [batch, length, vocabulary]",
                    executable.name())};
  return Ports{&tokens, logits};
}

/// The model is causal, so what follows the text in the window does not matter. Once the text is
/// longer than the window, the window slides.
class Window final : public NextToken {
public:
  Window(std::unique_ptr<Session> session, const Ports &ports)
      : owned(std::move(session)), ports(ports) {}

  int64_t vocabulary() const override { return ports.logits->shape[2]; }
  Session &session() override { return *owned; }

  Result<void> expect(std::span<const int32_t> tokens, std::span<double> logits) override {
    const auto length = static_cast<size_t>(ports.tokens->shape[1]);
    std::span<int32_t> window = owned->inputAs<int32_t>("forward", ports.tokens->name);
    std::fill(window.begin(), window.end(), 0);
    const size_t used = std::min(length, tokens.size());
    std::copy(tokens.end() - static_cast<int64_t>(used), tokens.end(), window.begin());
    if (auto done = owned->run("forward"); !done)
      return done;
    std::span<const std::byte> data = owned->output("forward", ports.logits->name);
    if (data.empty())
      return Error{fmt::format("{}: the logits could not be read", owned->executable().name())};
    for (size_t c = 0; c < logits.size(); ++c)
      logits[c] = numberAt(ports.logits->dtype, data, (used - 1) * logits.size() + c);
    return {};
  }

private:
  std::unique_ptr<Session> owned;
  Ports ports;
};

//===-- which of the two -----------------------------------------------------------===//

Result<std::unique_ptr<Session>> sessionFor(SharedExecutable executable, int threads) {
  auto session = Session::create(std::move(executable), {threads, false});
  if (!session)
    return session;
  if (auto done = (*session)->keepFirstActive(); !done)
    return done.error();
  return session;
}

/// How to compile a model for one sequence; an error where it carries no text.
Result<ModelSpec> forOneSequence(const ModelSpec &model, int64_t context) {
  ModelSpec spec = model;
  if (!model.isSource()) {
    auto executable = model.load();
    if (!executable)
      return executable.error();
    auto source = sourceOf(**executable);
    if (!source)
      return source.error();
    spec = *source;
    spec.chunked = false;
  }
  spec.batch = 1;
  spec.replicas = 1;
  spec.quiet = true;
  spec.length = context ? context : spec.length.value_or(usualContext);
  spec.memory.reset(); // of training
  return spec;
}

Result<std::unique_ptr<NextToken>> loadWindow(const SharedExecutable &executable, int threads) {
  auto ports = portsOf(*executable);
  if (!ports)
    return ports.error();
  say(stderr, "note: every token runs the whole window of {} tokens{}\n", ports->tokens->shape[1],
      ports->tokens->shape[0] == 1
          ? ""
          : fmt::format(" for each of {} sequences", ports->tokens->shape[0]));
  auto session = sessionFor(executable, threads);
  if (!session)
    return session.error();
  return std::unique_ptr<NextToken>(new Window(std::move(*session), *ports));
}

} // namespace

Result<std::unique_ptr<NextToken>> loadNextToken(ModelSpec model, int64_t context, int threads) {
  SharedExecutable given;
  if (!model.isSource()) {
    auto loaded = model.load();
    if (!loaded)
      return loaded.error();
    given = *loaded;
    const bool decodes = given->findProgram("step") && !context;
    if (!decodes)
      if (auto ports = portsOf(*given); !ports)
        return ports.error();
    if (decodes) {
      auto session = sessionFor(given, threads);
      return session ? Decoding::create(std::move(*session)) : session.error();
    }
  }
  auto spec = findCompiler().empty() ? Result<ModelSpec>(Error{"hybridc is not beside hybrid-run"})
                                     : forOneSequence(model, context);
  if (!spec && !given)
    return spec.error();
  std::string why;
  if (spec) {
    spec->decode = true;
    if (auto compiled = spec->load()) {
      auto session = sessionFor(*compiled, threads);
      return session ? Decoding::create(std::move(*session)) : session.error();
    } else {
      why = compiled.error().message;
    }
    spec->decode = false;
    auto whole = spec->load();
    if (!whole)
      return whole.error();
    if (auto ports = portsOf(**whole); !ports)
      return ports.error();
    say(stderr, "note: no state can be carried from token to token, as the error above says\n");
    return loadWindow(*whole, threads);
  }
  say(stderr, "note: no state is carried from token to token: {}\n", spec.error().message);
  return loadWindow(given, threads);
}

} // namespace hybrid::rt
