//===- FuzzData.cpp - no bytes crash the readers of data -------------------===//
#include "test/fuzz/FuzzFile.h"
#include "training/data/Documents.h"
#include "training/data/Images.h"
#include "training/data/TokenArray.h"

using namespace hybrid::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzFile bytes(data, size);
  if (!bytes.isComplete())
    return 0;
  for (const char *kind : {"text:", "jsonl:", "fasta:"}) {
    auto spec = DataSpec::parse(kind + bytes.path());
    auto reader = openDocuments(*spec);
    DataDocument document;
    for (Result<bool> more = true; reader && more && *more;)
      more = (*reader)->next(document);
  }
  (void)readIdx(bytes.path(), bytes.path());
  if (auto tokens = TokenArray::open(bytes.path()); tokens)
    (void)tokens->firstNotBelow(50257);
  return 0;
}
