//===- Import.h - models in Hugging Face's layout, in and out ------------------===//
//
// An imported model is a folder: model.hyb, the model on a page; model.safetensors, its parameters
// (with the tokenizer, if there is one that we know); the settings and other small files of the
// original as they were; exchange.json, the types of the original tensors. Tensors that the model
// computes nothing with are kept in unused.safetensors. exchange.json is written last: a folder
// without it is not whole.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <string>

namespace hybrid::rt::exchange {

/// Reads `folder` and fills `out`, which must not be there or be empty. The result is what to tell
/// people.
Result<std::string> importHuggingFace(const std::string &folder, const std::string &out);

/// The way back: from an imported folder, with other parameters if `checkpoint` is not empty, to a
/// folder in Hugging Face's layout. The tensors of a model that was not trained in between are
/// what they were, bit by bit; others are rounded to the types that they had.
Result<std::string> exportHuggingFace(const std::string &folder, const std::string &checkpoint,
                                      const std::string &out);

} // namespace hybrid::rt::exchange
