//===- TokenRows.cpp - what a language model expects of several texts ---------------===//
#include "training/TokenRows.h"
#include "runtime/files/Print.h"
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

class DecodingRows final : public TokenRows {
public:
  DecodingRows(std::unique_ptr<Session> session, Decoder decoder)
      : owned(std::move(session)), decoder(std::move(decoder)),
        starts(static_cast<size_t>(this->decoder.rows())) {}

  int64_t rows() const override { return decoder.rows(); }
  Session &session() override { return *owned; }

  bool hasRoom(const NextToken::Place &place) const override {
    const std::optional<int64_t> most = decoder.mostPositions();
    return place.isBegun && (!most || place.states.position < *most);
  }

  Result<void> put(int64_t row, const NextToken::Place &place) override {
    if (!isPrepared) // with the parameters that there are by now
      if (auto done = decoder.restart(); !done)
        return done;
    isPrepared = true;
    if (auto done = decoder.restoreRow(row, place.states); !done)
      return done;
    starts[static_cast<size_t>(row)] = place.start;
    return {};
  }

  Result<NextToken::Place> save(int64_t row) override {
    auto states = decoder.saveRow(row);
    if (!states)
      return states.error();
    return NextToken::Place{std::move(*states), starts[static_cast<size_t>(row)], true};
  }

  Result<void> step(std::span<const std::optional<int32_t>> tokens, const Visit &visit) override {
    if (auto done = decoder.takeEach(tokens); !done)
      return done;
    std::vector<double> logits(static_cast<size_t>(decoder.vocabulary()));
    for (int64_t row = 0; row < rows(); ++row) {
      if (!tokens[static_cast<size_t>(row)])
        continue;
      if (auto done = decoder.logits(row, logits); !done)
        return done;
      visit(row, logits);
    }
    return {};
  }

private:
  std::unique_ptr<Session> owned;
  Decoder decoder;
  std::vector<size_t> starts; // of each row: the token whose position has the number 0
  bool isPrepared = false;
};

} // namespace

Result<std::unique_ptr<TokenRows>> loadTokenRows(const ModelSpec &model, int64_t context,
                                                 int64_t rows, int threads) {
  auto oneByOne = [](const std::string &why) -> Result<std::unique_ptr<TokenRows>> {
    say(stderr, "note: texts go on one by one: {}\n", why);
    return std::unique_ptr<TokenRows>();
  };
  auto spec = decodingSpec(model, context, rows);
  if (!spec)
    return oneByOne(spec.error().message);
  auto executable = spec->load();
  if (!executable)
    return oneByOne(executable.error().message);
  auto session = decodingSession(*executable, threads);
  if (!session)
    return session.error();
  auto decoder = Decoder::create(**session);
  if (!decoder)
    return decoder.error();
  if (!decoder->areRowsIndependent())
    return oneByOne("what the model carries from token to token is not all of one text");
  return std::unique_ptr<TokenRows>(
      std::make_unique<DecodingRows>(std::move(*session), std::move(*decoder)));
}

} // namespace hybrid::rt
