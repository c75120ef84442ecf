//===- FuzzJson.cpp - what the reader of JSON lets through can be printed and read again -===//
#include "runtime/files/Json.h"
#include <cstdlib>

using namespace hybrid::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  auto value = parseJson(text, "fuzz");
  if (!value)
    return value.error().message.size() > 6 ? 0 : (std::abort(), 0);
  auto again = parseJson(jsonLine(*value), "again");
  if (!again || *again != *value)
    std::abort();
  for (const char *key : {"a", "step", ""}) {
    (void)jsonField<std::string>(*value, key);
    (void)jsonField<double>(*value, key);
    (void)jsonField<int8_t>(*value, key);
  }
  return 0;
}
