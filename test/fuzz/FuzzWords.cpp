//===- FuzzWords.cpp - no word of a command line crashes who reads it ------------===//
#include "executable/NearestName.h"
#include "executable/Printable.h"
#include "training/Schedule.h"
#include "training/arrays/TensorInput.h"
#include "training/data/DataSpec.h"
#include "training/tasks/Task.h"
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

using namespace hybrid::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string word(reinterpret_cast<const char *>(data), size);
  (void)DataSpec::parse(word);
  (void)scheduleKind(word);
  // Only tensors that stand in the word itself: a file's name may be that of a device.
  if (word.find("f32=") != std::string::npos || word.find("i32=") != std::string::npos)
    (void)TensorInput::parse("x=" + word);
  for (Convention convention : {Convention::Paper, Convention::MadLab})
    if (auto task = createTask(word, convention))
      if ((*task)->spec().empty() || (*task)->positions() <= 0)
        std::abort();
  std::string shown = hybrid::printable(word);
  if (std::any_of(shown.begin(), shown.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
      }))
    std::abort();
  const std::vector<std::string> names{"length", "width", "w"};
  (void)hybrid::nearestName(word, names);
  return 0;
}
