//===- TokenizerSpeed.cpp - how fast a tokenizer encodes and decodes --------===//
//
//   build/bin/TokenizerSpeed TOKENIZER FILE [SECONDS]
//
// One thread encodes the whole file again and again; the fastest pass counts. Time is what the
// thread spent on a processor, so that a busy machine tells the same.
//
//===----------------------------------------------------------------------===//
#include "runtime/files/File.h"
#include "training/tokenizers/Tokenizer.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

using namespace hybrid::rt;

static double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
static double secondsSince(double start) { return now() - start; }

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: TokenizerSpeed TOKENIZER FILE [SECONDS]\n");
    return 2;
  }
  double start = now();
  auto tokenizer = loadTokenizer(argv[1]);
  double loading = secondsSince(start);
  auto file = MappedFile::open(argv[2]);
  if (!tokenizer || !file) {
    std::fprintf(stderr, "error: %s\n",
                 (tokenizer ? file.error() : tokenizer.error()).message.c_str());
    return 1;
  }
  std::string_view text(reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size());
  double budget = argc > 3 ? std::atof(argv[3]) : 5, encoding = 1e30, decoding = 1e30;
  std::vector<int32_t> ids;
  bool isSame = false;
  for (double begin = now(); secondsSince(begin) < budget;) {
    ids.clear();
    start = now();
    auto done = (*tokenizer)->encode(text, {}, ids);
    encoding = std::min(encoding, secondsSince(start));
    start = now();
    auto back = (*tokenizer)->decode(ids, {});
    decoding = std::min(decoding, secondsSince(start));
    if (!done || !back) {
      std::fprintf(stderr, "error: %s\n", (done ? back.error() : done.error()).message.c_str());
      return 1;
    }
    isSame = *back == text;
  }
  double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf("%s: %.1f MB, %zu tokens, loaded in %.0f ms, encode %.1f MB/s, decode %.1f MB/s, "
              "decoding gives %s\n",
              argv[1], megabytes, ids.size(), loading * 1e3, megabytes / encoding,
              megabytes / decoding, isSame ? "the text" : "another text");
  return 0;
}
