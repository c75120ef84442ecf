//===- SentencePieceTokenizer.cpp - models of the SentencePiece library -----===//
#include "training/tokenizers/SimpleTokenizers.h"
#include "training/tokenizers/Utf8.h"
#include <fmt/format.h>
#ifdef HYBRID_SENTENCEPIECE
#include <sentencepiece_processor.h>
#endif

namespace hybrid::rt {

#ifdef HYBRID_SENTENCEPIECE
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string toBase64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    size_t count = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      text += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

class SentencePieceTokenizer final : public Tokenizer {
public:
  Result<void> load(std::string bytes, const std::string &name) {
    model = std::move(bytes);
    auto status = processor.LoadFromSerializedProto(model);
    if (!status.ok() || processor.GetPieceSize() <= 0)
      return Error{fmt::format("{}: neither a tokenizer.json, which begins with '{{', nor a "
                               "SentencePiece model",
                               name)};
    return {};
  }

  Result<void> encode(std::string_view text, const EncodeOptions &options,
                      std::vector<int32_t> &ids) const override {
    std::vector<int> made;
    auto status = processor.Encode(text, &made);
    if (!status.ok())
      return Error{fmt::format("SentencePiece cannot encode the text: {}", status.ToString())};
    if (options.addSpecial && processor.bos_id() >= 0)
      ids.push_back(processor.bos_id());
    ids.insert(ids.end(), made.begin(), made.end());
    return {};
  }
  Result<std::string> decode(std::span<const int32_t> ids,
                             const DecodeOptions &options) const override {
    std::vector<int> kept;
    for (int32_t id : ids)
      if (id >= 0 && id < processor.GetPieceSize() &&
          (options.keepSpecial || !processor.IsControl(id)))
        kept.push_back(id);
    std::string text;
    auto status = processor.Decode(kept, &text);
    if (!status.ok())
      return Error{fmt::format("SentencePiece cannot decode: {}", status.ToString())};
    return text;
  }
  int64_t vocabulary() const override { return processor.GetPieceSize(); }
  std::string token(int32_t id) const override {
    return id < 0 || id >= processor.GetPieceSize() ? std::string() : processor.IdToPiece(id);
  }
  int32_t find(std::string_view token) const override {
    int id = processor.PieceToId(token);
    return id >= 0 && id < processor.GetPieceSize() && processor.IdToPiece(id) == token ? id : -1;
  }
  std::vector<Special> specialTokens() const override {
    std::vector<Special> special;
    for (int id = 0; id < processor.GetPieceSize(); ++id)
      if (processor.IsControl(id) || processor.IsUnknown(id))
        special.push_back({processor.IdToPiece(id), id});
    return special;
  }
  std::string kind() const override { return "SentencePiece"; }
  std::string serialized() const override {
    return fmt::format(R"({{"hybrid_tokenizer":1,"model":"{}","type":"sentencepiece"}})",
                       toBase64(model));
  }

private:
  sentencepiece::SentencePieceProcessor processor;
  std::string model;
};

} // namespace

Result<std::unique_ptr<Tokenizer>> makeSentencePieceTokenizer(std::string model,
                                                              const std::string &name) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>();
  if (Result<void> done = tokenizer->load(std::move(model), name); !done)
    return done.error();
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

Result<std::unique_ptr<Tokenizer>> sentencePieceFromBase64(std::string_view text,
                                                           const std::string &name) {
  std::string bytes;
  uint32_t group = 0;
  int bits = 0;
  for (char c : text) {
    if (c == '=')
      break;
    size_t digit = digits.find(c);
    if (digit == std::string_view::npos)
      return Error{fmt::format("{}: model: not base 64", name)};
    group = (group << 6 | static_cast<uint32_t>(digit)) & 0xFFFFFF;
    if ((bits += 6) >= 8)
      bytes += static_cast<char>(group >> (bits -= 8));
  }
  return makeSentencePieceTokenizer(std::move(bytes), name);
}

#else

Result<std::unique_ptr<Tokenizer>> makeSentencePieceTokenizer(std::string model,
                                                              const std::string &name) {
  return Error{
      fmt::format("{}: a SentencePiece model needs a build with libsentencepiece-dev", name)};
}
Result<std::unique_ptr<Tokenizer>> sentencePieceFromBase64(std::string_view text,
                                                           const std::string &name) {
  return makeSentencePieceTokenizer({}, name);
}

#endif

} // namespace hybrid::rt
