//===- NextToken.cpp - what a language model expects next --------------------------===//
#include "training/NextToken.h"
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
  bool carriesStates() const override { return true; }

  Result<void> expectEach(std::span<const int32_t> tokens, size_t first,
                          const Visit &visit) override {
    const std::optional<int64_t> most = decoder.mostPositions();
    for (size_t next = first; next < tokens.size();) {
      const bool isFull = most && static_cast<int64_t>(next + 1 - start) > *most;
      if (isFull) // a model that numbers its positions goes on from the newest half of them
        start = next + 1 - static_cast<size_t>((*most + 1) / 2);
      if (isFull || !begun)
        if (auto done = isPrepared ? decoder.rewind() : decoder.restart(); !done)
          return done;
      begun = isPrepared = true;
      const size_t at = start + static_cast<size_t>(decoder.position());
      if (at > next)
        return Error{fmt::format("what is expected behind token {} was shown already", next)};
      const size_t end =
          most ? std::min(tokens.size(), start + static_cast<size_t>(*most)) : tokens.size();
      auto show = [&](int64_t, int64_t token, std::span<const double> logits) {
        visit(at + static_cast<size_t>(token), logits);
      };
      if (auto done =
              decoder.take(tokens.subspan(at, end - at), static_cast<int64_t>(next - at), show);
          !done)
        return done;
      next = end;
    }
    return {};
  }

  Result<Place> save() override {
    if (!begun)
      return Place();
    auto states = decoder.save();
    if (!states)
      return states.error();
    return Place{std::move(*states), start, true};
  }
  Place where() const override { return {{decoder.position(), {}}, start, begun}; }
  Result<void> restore(const Place &place) override {
    start = place.start;
    begun = place.isBegun;
    return begun ? decoder.restore(place.states) : Result<void>();
  }
  void restart() override {
    begun = false;
    start = 0;
  }

private:
  Decoding(std::unique_ptr<Session> session, Decoder decoder)
      : owned(std::move(session)), decoder(decoder) {}

  std::unique_ptr<Session> owned;
  Decoder decoder;
  bool isPrepared = false; // with the parameters that there were by then
  bool begun = false;
  size_t start = 0; // the token whose position has the number 0
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

  Result<void> expectEach(std::span<const int32_t> tokens, size_t first,
                          const Visit &visit) override {
    const auto length = static_cast<size_t>(ports.tokens->shape[1]);
    std::vector<double> logits(static_cast<size_t>(vocabulary()));
    for (size_t next = first; next < tokens.size();) {
      const size_t begin = next < length ? 0 : next + 1 - length;
      const size_t end = next < length ? std::min(length, tokens.size()) : next + 1;
      std::span<int32_t> window = owned->inputAs<int32_t>("forward", ports.tokens->name);
      std::fill(window.begin(), window.end(), 0);
      std::copy(tokens.begin() + static_cast<int64_t>(begin),
                tokens.begin() + static_cast<int64_t>(end), window.begin());
      if (auto done = owned->run("forward"); !done)
        return done;
      std::span<const std::byte> data = owned->output("forward", ports.logits->name);
      if (data.empty())
        return Error{fmt::format("{}: the logits could not be read", owned->executable().name())};
      for (; next < end; ++next) {
        for (size_t c = 0; c < logits.size(); ++c)
          logits[c] = numberAt(ports.logits->dtype, data, (next - begin) * logits.size() + c);
        visit(next, logits);
      }
    }
    return {};
  }

private:
  std::unique_ptr<Session> owned;
  Ports ports;
};

//===-- which of the two -----------------------------------------------------------===//

Result<std::unique_ptr<NextToken>> loadWindow(const SharedExecutable &executable, int threads) {
  auto ports = portsOf(*executable);
  if (!ports)
    return ports.error();
  say(stderr, "note: every token runs the whole window of {} tokens{}\n", ports->tokens->shape[1],
      ports->tokens->shape[0] == 1
          ? ""
          : fmt::format(" for each of {} sequences", ports->tokens->shape[0]));
  auto session = decodingSession(executable, threads);
  if (!session)
    return session.error();
  return std::unique_ptr<NextToken>(new Window(std::move(*session), *ports));
}

} // namespace

Result<std::unique_ptr<Session>> decodingSession(SharedExecutable executable, int threads) {
  auto session = Session::create(std::move(executable), {threads, false});
  if (!session)
    return session;
  if (auto done = (*session)->keepFirstActive(); !done)
    return done.error();
  return session;
}

Result<ModelSpec> decodingSpec(const ModelSpec &model, int64_t context, int64_t rows) {
  if (findCompiler().empty())
    return Error{"hybridc is not beside hybrid-run"};
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
  spec.batch = rows;
  spec.replicas = 1;
  spec.quiet = true;
  spec.length = context ? context : spec.length.value_or(usualContext);
  spec.memory.reset(); // of training
  spec.decode = true;
  return spec;
}

Result<void> NextToken::expect(std::span<const int32_t> tokens, std::span<double> logits) {
  if (tokens.empty())
    return Error{"nothing is expected behind no token"};
  return expectEach(tokens, tokens.size() - 1, [&](size_t, std::span<const double> values) {
    std::copy_n(values.begin(), std::min(values.size(), logits.size()), logits.begin());
  });
}

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
      auto session = decodingSession(given, threads);
      return session ? Decoding::create(std::move(*session)) : session.error();
    }
  }
  auto spec = decodingSpec(model, context, 1);
  if (!spec && !given)
    return spec.error();
  std::string why;
  if (spec) {
    if (auto compiled = spec->load()) {
      auto session = decodingSession(*compiled, threads);
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
