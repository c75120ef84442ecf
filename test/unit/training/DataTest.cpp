//===- DataTest.cpp - files as documents, tokens and instances --------------===//
#include "training/data/DataSource.h"
#include "training/data/Images.h"
#include "training/data/Prepare.h"
#include "training/data/RenumberedSource.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <htslib/bgzf.h>
#include <set>

using namespace hybrid::rt;

namespace {

class DataTest : public ::testing::Test {
protected:
  DataTest() : folder(::testing::TempDir() + "/hybrid-data-XXXXXX") { mkdtemp(folder.data()); }
  ~DataTest() override { std::filesystem::remove_all(folder); }
  std::string write(const std::string &name, const std::string &content) {
    std::string path = folder + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::vector<DataDocument> read(const std::string &text, std::vector<std::string> &texts) {
    std::vector<DataDocument> documents;
    auto reader = openDocuments(*DataSpec::parse(text));
    EXPECT_TRUE(bool(reader)) << (reader ? "" : reader.error().message);
    DataDocument document;
    for (Result<bool> more = (*reader)->next(document); more && *more;
         more = (*reader)->next(document)) {
      texts.emplace_back(document.text);
      documents.push_back(document);
    }
    return documents;
  }
  std::string failure(const std::string &text) {
    auto reader = openDocuments(*DataSpec::parse(text));
    if (!reader)
      return reader.error().message;
    DataDocument document;
    Result<bool> more = true;
    while (more && *more)
      more = (*reader)->next(document);
    return more ? "" : more.error().message;
  }
  std::string folder;
};

template <typename T> std::string raw(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

std::string bigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

} // namespace

TEST(DataSpec, ReadsKindPathAndOptions) {
  auto spec = DataSpec::parse("jsonl:a,b/c=d.jsonl,field=story,weight=2");
  ASSERT_TRUE(bool(spec));
  EXPECT_EQ(spec->path, "a,b/c=d.jsonl");
  EXPECT_EQ(spec->option("field", "text"), "story");
  EXPECT_FALSE(bool(DataSpec::parse("csv:x")));
  EXPECT_FALSE(bool(DataSpec::parse("text:")));
  EXPECT_FALSE(bool(spec->allowOnly({"field"})));
}

TEST_F(DataTest, ReadsTextJsonLinesAndFasta) {
  std::vector<std::string> texts;
  read("text:" + write("a.txt", "one\n--\ntwo") + ",separator=\n--\n", texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"one", "two"}));
  texts.clear();
  auto lines =
      read("jsonl:" + write("a.jsonl", "{\"text\":\"x\\u00e9\"}\n\n{\"text\":\"y\"}"), texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"x\xC3\xA9", "y"}));
  EXPECT_EQ(lines[1].offset, 20u);
  texts.clear();
  auto records =
      read("fasta:" + write("a.fa", ">chr1 first\nACGT\nac\r\n>chr2\nNN\n>empty\n"), texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"ACGTac", "NN", ""}));
  EXPECT_EQ(records[1].name, "chr2");
  EXPECT_EQ(records[1].offset, 21u);
}

TEST_F(DataTest, ReadsBlockCompressedFasta) {
  std::string path = folder + "/a.fa.gz", text = ">x\nACGTACGT\n>y\nTTTT\n";
  BGZF *file = bgzf_open(path.c_str(), "w");
  ASSERT_EQ(bgzf_write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  bgzf_close(file);
  std::vector<std::string> texts;
  read("fasta:" + path, texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"ACGTACGT", "TTTT"}));
}

TEST_F(DataTest, BadFilesAreToldWithRecordAndByte) {
  std::string lines = write("bad.jsonl", "{\"text\":\"a\"}\n{\"text\":1}\n");
  EXPECT_EQ(failure("jsonl:" + lines),
            lines + ": record 1 at byte 13: an object with a string 'text' is expected");
  std::string cut = write("cut.jsonl", "{\"text\":");
  EXPECT_NE(failure("jsonl:" + cut).find("record 0 at byte 0: not JSON"), std::string::npos);
  std::string fasta = write("bad.fa", ">a\nAC1T\n");
  EXPECT_NE(failure("fasta:" + fasta).find("record 0 at byte 3"), std::string::npos);
  EXPECT_NE(failure("text:" + folder + "/none").find("cannot read"), std::string::npos);
}

TEST_F(DataTest, AReaderGoesOnWhereItsCursorSays) {
  auto spec = *DataSpec::parse("fasta:" + write("a.fa", ">a\nAA\n>b\nCC\n>c\nGG\n"));
  auto first = openDocuments(spec), second = openDocuments(spec);
  DataDocument document;
  ASSERT_TRUE(*(*first)->next(document));
  auto cursor = DocumentCursor::fromJson((*first)->cursor().json());
  ASSERT_TRUE(bool(cursor));
  ASSERT_TRUE(bool((*second)->seek(*cursor)));
  ASSERT_TRUE(*(*second)->next(document));
  EXPECT_EQ(document.name, "b");
  EXPECT_FALSE(bool((*second)->seek({2, 0, 1})));
}

TEST_F(DataTest, ReadsTokenFilesOfOthers) {
  std::vector<uint16_t> tokens = {5, 6, 7, 50256};
  auto bare = TokenArray::open(write("a.bin", raw(tokens)));
  ASSERT_TRUE(bool(bare));
  EXPECT_EQ(bare->size(), 4u);
  EXPECT_EQ((*bare)[3], 50256u);
  std::vector<uint32_t> header(256);
  header[0] = 20240520;
  header[1] = 1;
  header[2] = 4;
  auto llmc = TokenArray::open(write("b.bin", raw(header) + raw(tokens)));
  ASSERT_TRUE(bool(llmc));
  EXPECT_EQ(llmc->size(), 4u);
  EXPECT_EQ((*llmc)[2], 7u);
  header[2] = 5;
  EXPECT_FALSE(bool(TokenArray::open(write("c.bin", raw(header) + raw(tokens)))));
  EXPECT_FALSE(bool(TokenArray::open(write("d.bin", "abc"))));
  std::string npy = "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }\n";
  std::string size = {static_cast<char>(npy.size()), 0};
  auto array = TokenArray::open(
      write("a.npy", std::string("\x93NUMPY\x01\x00", 8) + size + npy + raw(tokens)));
  ASSERT_TRUE(bool(array)) << array.error().message;
  EXPECT_EQ((*array)[3], 50256u);
  npy.replace(npy.find("<u2"), 3, "<i2");
  const std::string path =
      write("i.npy", std::string("\x93NUMPY\x01\x00", 8) + size + npy + raw(tokens));
  auto set = TokenSet::open(*DataSpec::parse("tokens:" + path));
  ASSERT_FALSE(bool(set));
  EXPECT_NE(set.error().message.find("token 3 at byte 74 is negative"), std::string::npos)
      << set.error().message;
}

TEST_F(DataTest, PreparedTokensAreWhatWasTokenized) {
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += "{\"text\":\"document " + std::to_string(i) + "\"}\n";
  auto spec = *DataSpec::parse("jsonl:" + write("a.jsonl", lines) + ",split=fraction=0.25");
  std::string out = folder + "/out";
  auto report = prepareTokens(spec, out, 7);
  ASSERT_TRUE(bool(report)) << report.error().message;
  EXPECT_EQ(report->train.documents + report->validation.documents, 40u);
  EXPECT_GT(report->validation.documents, 0u);
  auto prepared = TokenSet::open(*DataSpec::parse("tokens:" + out));
  auto direct = TokenSet::tokenize(spec, 7);
  ASSERT_TRUE(bool(prepared)) << prepared.error().message;
  ASSERT_TRUE(bool(direct));
  EXPECT_EQ(prepared->train.documents, direct->train.documents);
  ASSERT_EQ(prepared->train.tokens.size(), direct->train.tokens.size());
  for (uint64_t i = 0; i < direct->train.tokens.size(); ++i)
    EXPECT_EQ(prepared->train.tokens[i], direct->train.tokens[i]);
  EXPECT_NE(prepareTokens(spec, out, 7).error().message.find("is there already"),
            std::string::npos);
  // Damage is noticed, and nothing half-written is left behind.
  std::ofstream(out + "/train.bin", std::ios::app) << "xx";
  EXPECT_NE(TokenSet::open(*DataSpec::parse("tokens:" + out)).error().message.find("not whole"),
            std::string::npos);
  auto bad = *DataSpec::parse("jsonl:" + write("bad.jsonl", lines + "{"));
  EXPECT_FALSE(bool(prepareTokens(bad, folder + "/other", 7)));
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    EXPECT_EQ(entry.path().filename().string().find("other"), std::string::npos);
}

TEST_F(DataTest, SplitsFollowTheirRule) {
  std::string path = write("g.fa", ">chr1\nAAAA\n>chr2\nCCCC\n>chr3\nGGGG\n");
  auto set = TokenSet::tokenize(*DataSpec::parse("fasta:" + path + ",split=record=chr2"), 0);
  ASSERT_TRUE(bool(set)) << set.error().message;
  ASSERT_EQ(set->validation.tokens.size(), 5u); // four nucleotides and the end
  EXPECT_EQ(set->validation.tokens[0], 8u);
  EXPECT_EQ(set->train.tokens.size(), 10u);
  EXPECT_FALSE(
      bool(TokenSet::tokenize(*DataSpec::parse("fasta:" + path + ",split=chromosome=2"), 0)));
}

TEST(TokenWindows, AnEpochTakesEveryWindowOnce) {
  TokenSplit split;
  std::vector<uint32_t> tokens(103);
  for (uint32_t i = 0; i < tokens.size(); ++i)
    tokens[i] = i;
  split.tokens = TokenArray::fromMemory(tokens);
  TokenWindows windows(split, 10, Packing::Stream);
  ASSERT_EQ(windows.windows(), 10u);
  for (uint64_t epoch : {0, 1}) {
    std::set<uint64_t> begins;
    for (uint64_t i = 0; i < 10; ++i) {
      auto place = windows.trainingPlace(epoch * 10 + i, 3);
      EXPECT_LE(place.end, tokens.size());
      begins.insert(place.begin / 10);
    }
    EXPECT_EQ(begins.size(), 10u);
  }
  std::vector<int32_t> inputs(10), targets(10);
  windows.copy(windows.place(2), inputs, targets, {});
  EXPECT_EQ(inputs[0], 20);
  EXPECT_EQ(targets[9], 30);
}

TEST(TokenWindows, DocumentsAreToldApartOrCut) {
  TokenSplit split;
  split.tokens = TokenArray::fromMemory({1, 2, 3, 4, 5, 6, 7, 8, 9});
  split.documents = {0, 3, 4};
  std::vector<int32_t> inputs(4), targets(4), segments(4);
  TokenWindows packed(split, 4, Packing::Documents);
  packed.copy(packed.place(0), inputs, targets, segments);
  EXPECT_EQ(inputs, (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(targets, (std::vector<int32_t>{2, 3, ignoredTarget, ignoredTarget}));
  EXPECT_EQ(segments, (std::vector<int32_t>{0, 0, 0, 1}));
  TokenWindows cut(split, 4, Packing::Cut);
  ASSERT_EQ(cut.windows(), 3u);
  cut.copy(cut.place(0), inputs, targets, {});
  EXPECT_EQ(inputs, (std::vector<int32_t>{1, 2, 3, 0}));
  EXPECT_EQ(targets, (std::vector<int32_t>{2, 3, ignoredTarget, ignoredTarget}));
  cut.copy(cut.place(2), inputs, targets, {});
  EXPECT_EQ(inputs, (std::vector<int32_t>{5, 6, 7, 8}));
  EXPECT_EQ(targets, (std::vector<int32_t>{6, 7, 8, 9}));
}

TEST(Mixture, EveryStretchHasItsShareAndNumbersAreUsedOnce) {
  std::vector<double> weights = {1, 2, 5};
  std::vector<uint64_t> shares = mixtureShares(weights), counts(3);
  for (uint64_t i = 0; i < 8000; ++i) {
    MixturePlace place = mixturePlace(shares, i);
    ASSERT_EQ(place.number, counts[place.source]++);
  }
  for (size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(static_cast<double>(counts[k]), 1000 * weights[k], 2);
}

TEST_F(DataTest, ImagesAreReadAndTheirFaultsTold) {
  std::string images = bigEndian(0x803) + bigEndian(3) + bigEndian(2) + bigEndian(2) +
                       std::string("\1\2\3\4\5\6\7\10\11\12\13\14", 12),
              labels = bigEndian(0x801) + bigEndian(3) + std::string("\2\0\1", 3);
  std::string imagePath = write("i", images), labelPath = write("l", labels);
  auto set = readIdx(imagePath, labelPath);
  ASSERT_TRUE(bool(set)) << set.error().message;
  EXPECT_EQ(set->pixels[4], 5);
  EXPECT_EQ(set->labels, (std::vector<uint32_t>{2, 0, 1}));
  EXPECT_FALSE(bool(readIdx(write("short", images.substr(0, 20)), labelPath)));
  EXPECT_FALSE(bool(readIdx(labelPath, imagePath)));
  write("p/cat/a.png", "no png");
  EXPECT_NE(readPngFolder(folder + "/p", 1).error().message.find("not a usable PNG"),
            std::string::npos);
  const DataSpec spec{"idx", imagePath, {{"labels", labelPath}, {"fraction", "0.4"}}};
  auto source = makeDataSource(std::span(&spec, 1), 4, 0, 0);
  ASSERT_TRUE(bool(source)) << source.error().message;
  EXPECT_EQ((*source)->positions(), 4);
  EXPECT_EQ((*source)->epochExamples(), 2u);
  // In another order it is asked for the same classes, and has no bytes of text either.
  EXPECT_LT((*source)->answers(), (*source)->vocabulary());
  const auto repeated = repeatFirstBatch(std::move(*source), 1);
  EXPECT_EQ(repeated->answers(), 3);
  EXPECT_EQ(repeated->bytesPerToken(), 0);
}

TEST_F(DataTest, OtherDataIsDescribedOtherwise) {
  auto described = [&](const std::string &text) {
    auto spec = DataSpec::parse(text);
    EXPECT_TRUE(bool(spec)) << text;
    auto source = makeDataSource(std::span(&*spec, 1), 4, 0, 0);
    EXPECT_TRUE(bool(source)) << source.error().message;
    nlohmann::json description = (*source)->describe();
    std::string hashes;
    std::function<void(const nlohmann::json &)> collect = [&](const nlohmann::json &part) {
      for (const auto &[key, value] : part.items())
        if (key == "content_hash")
          hashes += value.get<std::string>() + ' ';
        else if (value.is_structured())
          collect(value);
        else if (key == "field" || key == "separator" || key == "bytes" || key == "tokenizer")
          hashes += value.dump() + ' ';
    };
    collect(description);
    return hashes;
  };
  std::string pixels = bigEndian(0x803) + bigEndian(3) + bigEndian(2) + bigEndian(2) +
                       std::string("\1\2\3\4\5\6\7\10\11\12\13\14", 12);
  const std::string images = write("i", pixels), tokens = write("t", std::string(640, '\1')),
                    more = write("more", std::string(32, '\1')),
                    other = write("other", std::string(32, '\0')),
                    a = write("la", bigEndian(0x801) + bigEndian(3) + std::string("\2\0\1", 3)),
                    b = write("lb", bigEndian(0x801) + bigEndian(3) + std::string("\1\0\2", 3)),
                    lines = write("j", R"({"a": "abcdefgh", "b": "ijklmnop"})"
                                       "\n"
                                       R"({"a": "qrstuvwx", "b": "yzabcdef"})"
                                       "\n");
  const std::pair<std::string, std::string> pairs[] = {
      {"idx:" + images + ",fraction=0.4,labels=" + a,
       "idx:" + images + ",fraction=0.4,labels=" + b},
      {"jsonl:" + lines + ",field=a,split=fraction=0.5",
       "jsonl:" + lines + ",field=b,split=fraction=0.5"},
      {"tokens:" + tokens + ",validation=" + more, "tokens:" + tokens + ",validation=" + other},
      {"tokens:" + tokens + ",vocabulary=300", "tokens:" + tokens + ",vocabulary=300,bytes=1"}};
  for (const auto &[first, second] : pairs)
    EXPECT_NE(described(first), described(second)) << first;
}
