//===- Normalizer.cpp - what is done to text before it is split -------------===//
#include "training/tokenizers/Normalizer.h"
#include "training/tokenizers/ByteAlphabet.h"
#include "training/tokenizers/Regex.h"
#include "training/tokenizers/Utf8.h"
#include <fmt/format.h>
#include <memory>

namespace hybrid::rt {

bool isOvergrown(size_t made, size_t given) { return made > 16 * given + (1 << 16); }

Error overgrown(size_t given) {
  return Error{fmt::format("the tokenizer makes more than {} bytes of {}: its replacements are "
                           "refused",
                           16 * given + (1 << 16), given)};
}

namespace {

/// A step that handles one character after another.
template <typename Function> TextStep eachCharacter(Function function) {
  return [function](std::string_view text, bool &atStart) -> Result<std::string> {
    std::string out;
    out.reserve(text.size());
    for (size_t i = 0; i < text.size();) {
      utf8::Character character = utf8::at(text, i);
      if (character.isWellFormed())
        function(out, character.point);
      else
        out += text[i];
      i += character.bytes;
      atStart &= !out.empty();
    }
    return out;
  };
}

TextStep normalForm(utf8::Form form) {
  return [form](std::string_view text, bool &atStart) -> Result<std::string> {
    return utf8::normalized(text, form);
  };
}

TextStep lowercase() { return eachCharacter(utf8::appendLower); }

TextStep strip(const JsonNode &node) {
  node.allowOnly({"type", "strip_left", "strip_right"});
  bool left = node.boolean("strip_left", true), right = node.boolean("strip_right", true);
  return [left, right](std::string_view text, bool &atStart) -> Result<std::string> {
    size_t begin = 0, end = text.size();
    while (left && begin < end && utf8::isSpace(utf8::at(text, begin).point))
      begin += utf8::at(text, begin).bytes;
    atStart &= begin == 0;
    while (right && end > begin) {
      size_t last = utf8::before(text, end);
      if (!utf8::isSpace(utf8::at(text, last).point))
        break;
      end = last;
    }
    return std::string(text.substr(begin, end - begin));
  };
}

TextStep prepend(const JsonNode &node) {
  node.allowOnly({"type", "prepend"});
  std::string what = node.string("prepend");
  return [what](std::string_view text, bool &atStart) -> Result<std::string> {
    if (text.empty())
      return std::string();
    if (isOvergrown(what.size() + text.size(), text.size()))
      return overgrown(text.size());
    return what + std::string(text);
  };
}

bool isChinese(uint32_t point) {
  return (point >= 0x4E00 && point <= 0x9FFF) || (point >= 0x3400 && point <= 0x4DBF) ||
         (point >= 0x20000 && point <= 0x2A6DF) || (point >= 0x2A700 && point <= 0x2B73F) ||
         (point >= 0x2B740 && point <= 0x2B81F) || (point >= 0x2B920 && point <= 0x2CEAF) ||
         (point >= 0xF900 && point <= 0xFAFF) || (point >= 0x2F800 && point <= 0x2FA1F);
}

void bert(const JsonNode &node, std::vector<TextStep> &steps) {
  node.allowOnly({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  bool lower = node.boolean("lowercase", true);
  if (node.boolean("clean_text", true))
    steps.push_back(eachCharacter([](std::string &out, uint32_t point) {
      bool isBlank = point == '\t' || point == '\n' || point == '\r';
      if (point == 0 || point == 0xFFFD || (utf8::isControl(point) && !isBlank))
        return;
      utf8::append(out, utf8::isSpace(point) ? ' ' : point);
    }));
  if (node.boolean("handle_chinese_chars", true))
    steps.push_back(eachCharacter([](std::string &out, uint32_t point) {
      if (isChinese(point))
        out += ' ';
      utf8::append(out, point);
      if (isChinese(point))
        out += ' ';
    }));
  if (node.boolean("strip_accents", lower)) {
    steps.push_back(normalForm(utf8::Form::NFD));
    steps.push_back(eachCharacter([](std::string &out, uint32_t point) {
      if (!utf8::isNonspacingMark(point))
        utf8::append(out, point);
    }));
  }
  if (lower)
    steps.push_back(lowercase());
}

void nmt(std::vector<TextStep> &steps) {
  steps.push_back(eachCharacter([](std::string &out, uint32_t point) {
    bool isDropped = (point >= 1 && point <= 8) || point == 0xB ||
                     (point >= 0xE && point <= 0x1F) || point == 0x7F || point == 0x8F ||
                     point == 0x9F;
    if (isDropped)
      return;
    bool isBlank = point == 9 || point == 0xA || point == 0xC || point == 0xD || point == 0x1680 ||
                   (point >= 0x200B && point <= 0x200F) || point == 0x2028 || point == 0x2029 ||
                   point == 0x2581 || point == 0xFEFF || point == 0xFFFD;
    utf8::append(out, isBlank ? ' ' : point);
  }));
}

void readInto(const JsonNode &node, std::vector<TextStep> &steps) {
  constexpr size_t mostSteps = 64;
  if (steps.size() > mostSteps)
    return node.refuse(fmt::format("more than {} steps are not supported", mostSteps));
  if (node.readSequence("normalizers", [&](const JsonNode &child) { readInto(child, steps); }))
    return;
  std::string type = node.string("type");
  if (type == "NFC") {
    steps.push_back(normalForm(utf8::Form::NFC));
  } else if (type == "NFD") {
    steps.push_back(normalForm(utf8::Form::NFD));
  } else if (type == "NFKC") {
    steps.push_back(normalForm(utf8::Form::NFKC));
  } else if (type == "NFKD") {
    steps.push_back(normalForm(utf8::Form::NFKD));
  } else if (type == "Lowercase") {
    steps.push_back(lowercase());
  } else if (type == "Strip") {
    steps.push_back(strip(node));
  } else if (type == "StripAccents") {
    steps.push_back(eachCharacter([](std::string &out, uint32_t point) {
      if (!utf8::isMark(point))
        utf8::append(out, point);
    }));
  } else if (type == "Prepend") {
    steps.push_back(prepend(node));
  } else if (type == "Replace") {
    steps.push_back(readReplace(node));
  } else if (type == "ByteLevel") {
    steps.push_back([](std::string_view text, bool &atStart) -> Result<std::string> {
      std::string out;
      appendByteCharacters(out, text);
      return out;
    });
  } else if (type == "BertNormalizer") {
    bert(node, steps);
  } else if (type == "Nmt") {
    nmt(steps);
  } else {
    node.note("type", fmt::format("the normalizer '{}' is not supported; supported: Sequence, NFC, "
                                  "NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, "
                                  "Replace, ByteLevel, BertNormalizer, Nmt",
                                  type));
  }
}

} // namespace

TextStep readReplace(const JsonNode &node) {
  node.allowOnly({"type", "pattern", "content"});
  JsonNode pattern = node["pattern"];
  pattern.allowOnly({"String", "Regex"});
  std::string content = node.string("content");
  if (!pattern["String"].isNull()) {
    std::string what = pattern.string("String");
    return [what, content](std::string_view text, bool &atStart) -> Result<std::string> {
      std::string out;
      size_t from = 0;
      for (size_t at; !what.empty() && (at = text.find(what, from)) != std::string_view::npos;
           from = at + what.size()) {
        out.append(text, from, at - from) += content;
        atStart &= !out.empty();
        if (isOvergrown(out.size(), text.size()))
          return overgrown(text.size());
      }
      return out += text.substr(from);
    };
  }
  Result<Regex> regex = Regex::compile(pattern.string("Regex"));
  if (!regex) {
    pattern.note("Regex", regex.error().message);
    return {};
  }
  return [regex = std::make_shared<Regex>(std::move(*regex)),
          content](std::string_view text, bool &atStart) -> Result<std::string> {
    std::string out;
    size_t from = 0;
    Regex::Finder finder(*regex, text);
    for (Regex::Match match; finder.next(match); from = match.end) {
      out.append(text, from, match.begin - from) += content;
      atStart &= !out.empty() || match.end == 0;
      if (isOvergrown(out.size(), text.size()))
        return overgrown(text.size());
    }
    if (!finder.fault().empty())
      return Error{finder.fault()};
    return out += text.substr(from);
  };
}

std::vector<TextStep> readNormalizer(const JsonNode &node) { return readSteps(node, readInto); }

} // namespace hybrid::rt
