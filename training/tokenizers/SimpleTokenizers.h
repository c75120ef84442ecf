//===- SimpleTokenizers.h - bytes and nucleotides ---------------------------===//
#pragma once
#include "training/tokenizers/Tokenizer.h"

namespace hybrid::rt {

/// A token is a byte; there are no special tokens.
std::unique_ptr<Tokenizer> makeByteTokenizer();

/// A token is a nucleotide, with the numbers of HyenaDNA (Nguyen et al. 2023): [CLS] [SEP] [BOS]
/// [MASK] [PAD] [RESERVED] [UNK] A C G T N from 0 on. Lower case (masked repeats) is read as upper
/// case, IUPAC's letters for several nucleotides as N; [SEP] ends a sequence.
std::unique_ptr<Tokenizer> makeDnaTokenizer();

/// A text is the numbers themselves, "12 7 300": for a model whose tokens have no text here.
std::unique_ptr<Tokenizer> makeNumberTokenizer(int64_t vocabulary);

/// A SentencePiece model, as the bytes of its file.
Result<std::unique_ptr<Tokenizer>> makeSentencePieceTokenizer(std::string model,
                                                              const std::string &name);
/// From the text that its serialized() gave.
Result<std::unique_ptr<Tokenizer>> sentencePieceFromBase64(std::string_view text,
                                                           const std::string &name);

} // namespace hybrid::rt
