//===- BpeDocument.cpp - a byte-level BPE as a tokenizer.json -------------------===//
#include "training/tokenizers/BpeDocument.h"
#include "training/tokenizers/PreTokenizer.h"

namespace hybrid::rt {

using Json = nlohmann::ordered_json;

namespace {

Json byteLevel(bool usesRegex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", usesRegex}};
}

Json llama3Splitting() {
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"},
             {"pattern", {{"Regex", llama3Pattern}}},
             {"behavior", "Isolated"},
             {"invert", false}},
            byteLevel(false)}}};
}

} // namespace

Json tokenizerDocument(BpeDocument bpe) {
  Json added = Json::array();
  for (auto &[id, text] : bpe.special)
    added.push_back({{"id", id},
                     {"content", text},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", std::move(added)},
          {"normalizer", nullptr},
          {"pre_tokenizer", bpe.splitsAsLlama3 ? llama3Splitting() : byteLevel(true)},
          {"post_processor", nullptr},
          {"decoder", byteLevel(true)},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", false},
            {"vocab", std::move(bpe.vocabulary)},
            {"merges", std::move(bpe.merges)}}}};
}

} // namespace hybrid::rt
