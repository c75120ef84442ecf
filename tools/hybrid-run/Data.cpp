//===- Data.cpp - hybrid-run data: token files, samples, tokenizers ---------------===//
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/CheckpointTokenizer.h"
#include "training/data/DataSource.h"
#include "training/data/Fetch.h"
#include "training/data/Prepare.h"
#include "training/data/TrainTokenizer.h"
#include "training/tasks/Task.h"
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace hybrid::tools {
namespace {

using Json = nlohmann::ordered_json;

/// JSON text on one line of output; bytes that are no character become U+FFFD.
std::string dump(const Json &json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// A token for people: quoted, with the signs that would not show escaped.
std::string spelled(const rt::Tokenizer *tokenizer, int32_t id) {
  if (!tokenizer)
    return std::to_string(id);
  std::string text = valueOf(tokenizer->decode(std::span(&id, 1), {true, false}));
  if (text.empty())
    text = tokenizer->token(id);
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// fetch -----------------------------------------------------------------------------------------

struct FetchArguments {
  rt::FetchOptions fetch;
  bool list = false;
};

void fetch(FetchArguments &arguments) {
  arguments.fetch.catalogue = papersFolder() + "/sources.json";
  if (arguments.list) {
    for (const rt::FetchableData &each : valueOf(rt::fetchableData(arguments.fetch.catalogue)))
      std::cout << fmt::format("{:<12}{}{}{}\n", each.name, each.title,
                               each.packages.empty() ? "" : "; from ",
                               fmt::join(each.packages, ", "));
    return;
  }
  if (arguments.fetch.name.empty())
    throw Failure("which data set? `hybrid-run data fetch --list` shows them");
  std::cout << valueOf(rt::fetchData(arguments.fetch)) << "\n";
}

void addFetch(CLI::App &app) {
  auto *verb = app.add_subcommand("fetch", "take a data set out of a Debian package, and say where "
                                           "it is");
  auto arguments = std::make_shared<FetchArguments>();
  verb->add_option("name", arguments->fetch.name, "a name that --list shows");
  verb->add_flag("--list", arguments->list, "what there is, and from which packages");
  verb->add_option("--out", arguments->fetch.out,
                   "folder to make (default: one of the cache, made once)");
  verb->add_option("--packages", arguments->fetch.packages,
                   "folder with the packages (.deb), where none can be downloaded");
  verb->callback([arguments] { fetch(*arguments); });
}

// prepare ---------------------------------------------------------------------------------------

struct PrepareArguments {
  std::string spec, out, tokenizer, split;
  uint64_t seed = rt::defaultDataSeed;
  bool json = false;
};

void prepare(const PrepareArguments &arguments) {
  rt::DataSpec spec = valueOf(rt::DataSpec::parse(arguments.spec));
  if (!arguments.tokenizer.empty())
    spec.options["tokenizer"] = arguments.tokenizer;
  if (!arguments.split.empty())
    spec.options["split"] = arguments.split;
  rt::PrepareReport report = valueOf(rt::prepareTokens(spec, arguments.out, arguments.seed));
  if (arguments.json) {
    Json splits;
    for (auto [name, counts] :
         {std::pair("train", report.train), std::pair("validation", report.validation)})
      splits[name] = {
          {"tokens", counts.tokens}, {"documents", counts.documents}, {"bytes", counts.bytes}};
    std::cout << dump({{"out", arguments.out}, {"splits", splits}});
    return;
  }
  for (auto [name, counts] :
       {std::pair("train", report.train), std::pair("validation", report.validation)})
    std::cout << fmt::format("{:<11}{} tokens in {} documents, {:.2f} bytes a token\n", name,
                             counts.tokens, counts.documents,
                             static_cast<double>(counts.bytes) /
                                 static_cast<double>(std::max<uint64_t>(1, counts.tokens)));
  std::cout << "in " << arguments.out << "\n";
}

void addPrepare(CLI::App &app) {
  auto *verb = app.add_subcommand("prepare", "tokenize documents into a folder of token files");
  auto arguments = std::make_shared<PrepareArguments>();
  verb->add_option("data", arguments->spec, "text:, jsonl: or fasta:PATH[,option=value]")
      ->required();
  verb->add_option("--tokenizer", arguments->tokenizer,
                   "bytes, dna, or a tokenizer's file or folder (default: bytes, of FASTA dna)");
  verb->add_option(
      "--split", arguments->split,
      "what is held out: fraction=F, file=NAME or record=NAME (default: fraction=0.1)");
  verb->add_option("--data-seed", arguments->seed, "of the split")->capture_default_str();
  verb->add_option("--out", arguments->out, "folder to make")->required();
  verb->add_flag("--json", arguments->json, "print the counts as JSON");
  verb->callback([arguments] { prepare(*arguments); });
}

// show ------------------------------------------------------------------------------------------

struct ShowArguments {
  std::string spec, split = "train";
  int64_t count = 3, length = 32;
  uint64_t seed = 0, dataSeed = rt::defaultDataSeed;
};

void showImages(const ShowArguments &arguments, const rt::DataSpec &spec) {
  int64_t positions = valueOf(rt::positionsOf(arguments.spec));
  auto source = valueOf(
      rt::makeDataSource(std::span(&spec, 1), positions, arguments.seed, arguments.dataSeed));
  nlohmann::json description = source->describe();
  auto width = description["width"].get<size_t>(), channels = description["channels"].get<size_t>();
  std::cout << fmt::format("{} images for training, {} for testing, {} x {} x {}\n",
                           source->epochExamples(), source->testExamples(),
                           description["height"].get<size_t>(), width, channels);
  std::vector<int32_t> inputs(static_cast<size_t>(positions)), targets(inputs.size());
  for (int64_t i = 0; i < arguments.count; ++i) {
    if (arguments.split == "train")
      source->train(static_cast<uint64_t>(i), inputs, targets);
    else if (static_cast<uint64_t>(i) < source->testExamples())
      source->test(static_cast<uint64_t>(i), source->testExamples(), inputs, targets);
    std::cout << fmt::format("instance {}: class {}\n", i, targets.back());
    for (size_t t = 0; t < inputs.size(); t += channels) {
      std::cout << " .:-=+*#%@"[inputs[t] * 10 / 256];
      if ((t / channels + 1) % width == 0)
        std::cout << "\n";
    }
  }
}

void showTokens(const ShowArguments &arguments, const rt::DataSpec &spec) {
  rt::TokenSet set = valueOf(rt::openTokens(spec, arguments.dataSeed));
  rt::Packing packing = valueOf(rt::packingOf(spec.option("pack", "stream")));
  for (const auto &[name, split] :
       {std::pair("train", &set.train), std::pair("validation", &set.validation)}) {
    std::string documents =
        split->documents.empty() ? "" : fmt::format(" in {} documents", split->documents.size());
    std::cout << fmt::format("{:<11}{} tokens{}\n", name, split->tokens.size(), documents);
  }
  std::cout << fmt::format("vocabulary {}, tokenizer {}\n", set.vocabulary,
                           set.tokenizer ? set.tokenizer->kind() : "not known");
  const rt::TokenSplit &split = arguments.split == "train" ? set.train : set.validation;
  rt::TokenWindows windows(split, arguments.length, packing);
  if (windows.windows() == 0)
    throw Failure(
        fmt::format("the {} split has no window of {} tokens", arguments.split, arguments.length));
  std::vector<int32_t> inputs(static_cast<size_t>(arguments.length)), targets(inputs.size()),
      segments(inputs.size());
  for (int64_t i = 0; i < arguments.count; ++i) {
    auto number = static_cast<uint64_t>(i);
    if (arguments.split != "train" && number >= windows.windows())
      break;
    auto place = arguments.split == "train" ? windows.trainingPlace(number, arguments.seed)
                                            : windows.place(number);
    windows.copy(place, inputs, targets, segments);
    std::cout << fmt::format("instance {}: tokens {} to {}\n", i, place.begin, place.end - 1);
    std::string ids, meaning;
    for (size_t t = 0; t < inputs.size() && place.begin + t < place.end; ++t) {
      if (packing == rt::Packing::Documents && t > 0 && segments[t] != segments[t - 1])
        meaning += " |";
      ids += fmt::format(" {}", inputs[t]);
      meaning += " " + spelled(set.tokenizer.get(), inputs[t]);
    }
    std::cout << "  ids    " << ids << "\n  meaning" << meaning << "\n";
  }
}

void showLabelled(const ShowArguments &arguments, const rt::DataSpec &spec) {
  auto source = valueOf(rt::makeDataSource(std::span(&spec, 1), arguments.length, arguments.seed,
                                           arguments.dataSeed));
  nlohmann::json classes = source->describe()["classes"];
  for (const nlohmann::json &each : classes)
    std::cout << fmt::format(
        "{}: {} instances for training, {} for validation\n", each["class"].get<std::string>(),
        each["train_windows"].get<uint64_t>(), each["validation_windows"].get<uint64_t>());
  std::vector<int32_t> inputs(static_cast<size_t>(arguments.length)), targets(inputs.size());
  const bool isTrain = arguments.split == "train";
  for (int64_t i = 0; i < arguments.count; ++i) {
    if (!isTrain && static_cast<uint64_t>(i) >= source->testExamples())
      break;
    if (isTrain)
      source->train(static_cast<uint64_t>(i), inputs, targets);
    else
      source->test(static_cast<uint64_t>(i), source->testExamples(), inputs, targets);
    std::cout << fmt::format("instance {}: class {}\n  ", i,
                             classes[targets.back()]["class"].get<std::string>())
              << valueOf(source->tokenizer()->decode(inputs, {true, true})) << "\n";
  }
}

void show(const ShowArguments &arguments) {
  rt::DataSpec spec = valueOf(rt::DataSpec::parse(arguments.spec));
  if (spec.options.contains("label") && spec.kind != "tokens")
    return showLabelled(arguments, spec);
  if (spec.kind == "idx" || spec.kind == "png")
    showImages(arguments, spec);
  else
    showTokens(arguments, spec);
}

void addShow(CLI::App &app) {
  auto *verb = app.add_subcommand("show", "print training instances with what they mean");
  auto arguments = std::make_shared<ShowArguments>();
  verb->add_option("data", arguments->spec, "KIND:PATH[,option=value]: as train --data takes it")
      ->required();
  verb->add_option("--split", arguments->split, "train or validation")
      ->check(CLI::IsMember({"train", "validation"}))
      ->capture_default_str();
  verb->add_option("--count", arguments->count, "instances")
      ->check(Range(int64_t{0}, int64_t{1} << 20))
      ->capture_default_str();
  verb->add_option("--length", arguments->length, "tokens of an instance")
      ->check(Range(int64_t{1}, int64_t{1} << 24))
      ->capture_default_str();
  verb->add_option("--seed", arguments->seed, "of the run, whose order is shown")
      ->capture_default_str();
  verb->add_option("--data-seed", arguments->dataSeed, "of the split")->capture_default_str();
  verb->callback([arguments] { show(*arguments); });
}

// tokenize --------------------------------------------------------------------------------------

struct TokenizeArguments {
  std::string tokenizer, file, text, decode;
  bool hasText = false, noSpecial = false, plain = false, json = false;
};

std::vector<int32_t> idsOf(std::string_view list) {
  std::vector<int32_t> ids;
  for (size_t at = 0; (at = list.find_first_not_of(" ,\t\n[]", at)) != std::string_view::npos;) {
    int32_t id = 0;
    auto [end, error] = std::from_chars(list.data() + at, list.data() + list.size(), id);
    if (error != std::errc())
      throw Failure(fmt::format("--decode: '{}' is no token number", list.substr(at, 16)));
    ids.push_back(id);
    at = static_cast<size_t>(end - list.data());
  }
  return ids;
}

void tokenize(const TokenizeArguments &arguments) {
  auto tokenizer = valueOf(rt::namedTokenizer(arguments.tokenizer));
  if (!arguments.decode.empty()) {
    std::cout << valueOf(tokenizer->decode(idsOf(arguments.decode), {!arguments.noSpecial, false}))
              << "\n";
    return;
  }
  std::string text = arguments.text;
  if (!arguments.hasText && arguments.file.empty())
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  else if (!arguments.hasText) {
    auto bytes = valueOf(rt::readFile(arguments.file, uint64_t{4} << 30));
    text.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  }
  std::vector<int32_t> ids;
  require(tokenizer->encode(text, {!arguments.noSpecial, !arguments.plain}, ids));
  if (arguments.json) {
    std::cout << dump({{"tokenizer", tokenizer->kind()},
                       {"identity", tokenizer->identity()},
                       {"vocabulary", tokenizer->vocabulary()},
                       {"bytes", text.size()},
                       {"ids", ids}});
    return;
  }
  for (int32_t id : ids)
    std::cout << fmt::format("{:>8} {}\n", id, spelled(tokenizer.get(), id));
}

void addTokenize(CLI::App &app) {
  auto *verb = app.add_subcommand("tokenize", "show the tokens of a text, or the text of tokens");
  auto arguments = std::make_shared<TokenizeArguments>();
  verb->add_option("--tokenizer", arguments->tokenizer,
                   "bytes, dna, or a tokenizer's file or folder")
      ->required();
  auto *file = verb->add_option("file", arguments->file, "a file (default: standard input)");
  auto *text = verb->add_option("--text", arguments->text, "the text itself")->excludes(file);
  verb->add_option("--decode", arguments->decode, "token numbers to turn into text")
      ->excludes(file)
      ->excludes(text);
  verb->add_flag("--no-special", arguments->noSpecial,
                 "do not add tokens around the text; leave special ones out when decoding");
  verb->add_flag("--plain", arguments->plain,
                 "special tokens spelled out in the text are ordinary text");
  verb->add_flag("--json", arguments->json, "print the numbers as JSON");
  verb->callback([arguments, text] {
    arguments->hasText = !text->empty();
    tokenize(*arguments);
  });
}

// train-tokenizer -------------------------------------------------------------------------------

struct TrainTokenizerArguments {
  std::vector<std::string> specs;
  std::string out;
  rt::TrainBpeOptions options;
  bool json = false;
};

void trainTokenizer(const TrainTokenizerArguments &arguments) {
  auto trained = valueOf(rt::trainTokenizer(arguments.specs, arguments.options));
  auto tokenizer = valueOf(rt::tokenizerFromText(trained.json, arguments.out));
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(arguments.out, error).parent_path(),
                                      error);
  require(rt::writeFileAtomically(arguments.out, trained.json));
  if (arguments.json)
    std::cout << dump({{"out", arguments.out},
                       {"vocabulary", tokenizer->vocabulary()},
                       {"identity", tokenizer->identity()},
                       {"documents", trained.documents},
                       {"bytes", trained.bytes}});
  else
    std::cout << fmt::format("{} tokens from {} documents of {} bytes in {}\n",
                             tokenizer->vocabulary(), trained.documents, trained.bytes,
                             arguments.out);
}

void addTrainTokenizer(CLI::App &app) {
  auto *verb = app.add_subcommand("train-tokenizer", "learn a byte-level BPE from text");
  auto arguments = std::make_shared<TrainTokenizerArguments>();
  arguments->options.vocabulary = 4096;
  verb->add_option("data", arguments->specs, "text: or jsonl:PATH[,option=value], one or more")
      ->required();
  verb->add_option("--vocab-size", arguments->options.vocabulary, "tokens in all")
      ->capture_default_str();
  verb->add_option("--min-frequency", arguments->options.least,
                   "times that a pair must occur to become a token")
      ->check(Range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("--split-like", arguments->options.splitting, "how text is cut into words")
      ->check(CLI::IsMember({"gpt2", "llama3"}))
      ->capture_default_str();
  verb->add_option("--special", arguments->options.special, "special tokens, the first numbers")
      ->capture_default_str();
  verb->add_option("--out", arguments->out, "the tokenizer.json to write")->required();
  verb->add_flag("--json", arguments->json, "print what was made as JSON");
  verb->callback([arguments] { trainTokenizer(*arguments); });
}

} // namespace

void addData(CLI::App &app) {
  auto *verb = app.add_subcommand("data", "fetch, prepare and show data, make tokenizers");
  verb->require_subcommand(1);
  addFetch(*verb);
  addPrepare(*verb);
  addShow(*verb);
  addTokenize(*verb);
  addTrainTokenizer(*verb);
}

} // namespace hybrid::tools
