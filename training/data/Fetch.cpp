//===- Fetch.cpp - data sets that packages carry ----------------------------===//
#include "training/data/Fetch.h"
#include "executable/PrivateFolder.h"
#include "executable/TemporaryOutput.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "training/compile/Process.h"
#include "training/data/RTexts.h"
#include "training/data/TrainTokenizer.h"
#include "training/tokenizers/JsonNode.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <xxhash.h>

namespace hybrid::rt {
namespace {
namespace fs = std::filesystem;

/// A file of a package and what becomes of it.
struct SourceFile {
  std::string package, path, to; // in the package, in the folder
  bool isRTexts = false;         // a file a character vector; `to` is a folder, or empty
};

struct DataRecipe {
  FetchableData about;
  std::vector<SourceFile> files;
  std::vector<std::string> tokenizerOf; // data that a tokenizer.json is learnt from
  TrainBpeOptions bpe;
  std::string text; // all of it, as it stands in the catalogue
};

bool staysInside(const std::string &path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return !normal.is_absolute() && (normal.empty() || *normal.begin() != "..");
}

DataRecipe readEntry(const JsonNode &entry) {
  DataRecipe recipe;
  recipe.text = entry.json().dump();
  entry.allowOnly({"name", "title", "licence", "files", "tokenizer"});
  recipe.about.name = entry.string("name");
  recipe.about.title = entry.string("title");
  recipe.about.licence = entry.string("licence", "");
  const bool hasFiles = !entry["files"].isNull(), hasTokenizer = !entry["tokenizer"].isNull();
  if (hasFiles == hasTokenizer)
    entry.refuse("needs either files or a tokenizer");
  for (const JsonNode &each : hasFiles ? entry.elements("files") : std::vector<JsonNode>()) {
    each.allowOnly({"package", "path", "to", "read"});
    SourceFile file;
    file.package = each.string("package");
    file.path = each.string("path");
    file.to = each.string("to", "");
    file.isRTexts = each.choice("read", {"copy", "r-texts"}, 0) == 1;
    constexpr const char *letters = "abcdefghijklmnopqrstuvwxyz0123456789.+-";
    if (file.package.empty() || file.package.find_first_not_of(letters) != std::string::npos ||
        file.package[0] == '-')
      each.note("package", "is no name of a package");
    if (file.path.empty() || !staysInside(file.path))
      each.note("path", "is no path inside a package");
    if ((file.to.empty() && !file.isRTexts) || !staysInside(file.to))
      each.note("to", "is no path inside the folder");
    if (std::find(recipe.about.packages.begin(), recipe.about.packages.end(), file.package) ==
        recipe.about.packages.end())
      recipe.about.packages.push_back(file.package);
    recipe.files.push_back(std::move(file));
  }
  if (hasTokenizer) {
    const JsonNode tokenizer = entry["tokenizer"];
    tokenizer.allowOnly({"data", "vocabulary"});
    for (const JsonNode &each : tokenizer.elements("data"))
      if (each.json().is_string())
        recipe.tokenizerOf.push_back(each.json().get<std::string>());
      else
        each.refuse("a text is expected");
    recipe.bpe.vocabulary = static_cast<int64_t>(tokenizer.count("vocabulary", 1 << 20));
  }
  return recipe;
}

Result<std::vector<DataRecipe>> readCatalogue(const std::string &path) {
  auto text = readText(path);
  if (!text)
    return text.error();
  auto json = parseJson(*text, path, {.uniqueKeys = true});
  if (!json)
    return json.error();
  std::string fault;
  std::vector<DataRecipe> recipes;
  const JsonNode root(*json, "", fault);
  root.allowOnly({"sources"});
  for (const JsonNode &entry : root.elements("sources")) {
    recipes.push_back(readEntry(entry));
    const DataRecipe &recipe = recipes.back();
    // Each is made of others that stand before it, so that none is made of itself.
    for (const std::string &spec : recipe.tokenizerOf)
      for (size_t open = spec.find('{'); open != std::string::npos;
           open = spec.find('{', open + 1)) {
        const std::string name = spec.substr(open + 1, spec.find('}', open) - open - 1);
        if (std::none_of(recipes.begin(), recipes.end() - 1,
                         [&](const DataRecipe &other) { return other.about.name == name; }))
          entry["tokenizer"].note("data",
                                  fmt::format("names '{}', which is no data set that stands "
                                              "before '{}'",
                                              name, recipe.about.name));
      }
  }
  if (!fault.empty())
    return Error{fmt::format("{}: {}", path, fault)};
  return recipes;
}

/// Where the files of a package lie: unpacked below `folder`, or "/" where it is installed.
class Packages {
public:
  Packages(std::string folder, std::string given)
      : folder(std::move(folder)), given(std::move(given)) {}

  Result<std::string> find(const SourceFile &file) {
    std::error_code unknown;
    if (given.empty() && fs::exists("/" + file.path, unknown))
      return "/" + file.path;
    auto root = unpack(file.package);
    if (!root)
      return root.error();
    std::string path = *root + "/" + file.path;
    if (!fs::is_regular_file(path, unknown))
      return Error{fmt::format("the package {} has no file {}; another version of it may have it "
                               "elsewhere",
                               file.package, file.path)};
    return path;
  }

private:
  Result<std::string> unpack(const std::string &package) {
    if (auto known = roots.find(package); known != roots.end())
      return known->second;
    auto archive = given.empty() ? download(package) : archiveIn(given, package);
    if (!archive)
      return archive.error();
    const std::string root = folder + "/" + package;
    if (auto done = run({"dpkg-deb", "-x", *archive, root}); !done)
      return Error{fmt::format("cannot unpack '{}': {}", *archive, done.error().message)};
    return roots[package] = root;
  }
  Result<std::string> download(const std::string &package) {
    auto done = run({"-C", folder, "apt-get", "download", "-q", package});
    auto archive = archiveIn(folder, package);
    if (done && archive)
      return archive;
    return Error{fmt::format("the package {0} cannot be had with `apt-get download {0}` ({1}). "
                             "Install it, or download {0}_*.deb where there is a network "
                             "(https://packages.debian.org/{0}) and name its folder with "
                             "`hybrid-run data fetch NAME --packages FOLDER`",
                             package, done ? "it wrote no file" : done.error().message)};
  }
  static Result<std::string> archiveIn(const std::string &in, const std::string &package) {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(in, error))
      if (const std::string name = entry.path().filename();
          name.starts_with(package + "_") && name.ends_with(".deb"))
        found.push_back(entry.path());
    if (found.empty())
      return Error{fmt::format("'{}' has no {}_*.deb", in, package)};
    return *std::max_element(found.begin(), found.end());
  }
  /// A program that is looked for as a shell would.
  static Result<void> run(const std::vector<std::string> &words) {
    auto ended = runForOutput("/usr/bin/env", words);
    if (!ended)
      return ended.error();
    if (ended->status == 0)
      return {};
    std::string said = ended->err.substr(0, 400);
    while (said.ends_with('\n'))
      said.pop_back();
    return Error{said.empty() ? ended->text() : said};
  }

  std::string folder, given;
  std::map<std::string, std::string> roots;
};

Result<void> copyInto(const std::string &from, const std::string &to) {
  std::error_code error;
  fs::create_directories(fs::path(to).parent_path(), error);
  auto file = MappedFile::open(from);
  if (!file)
    return file.error();
  const auto bytes = file->bytes();
  return writeFileAtomically(to, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

Result<void> place(const SourceFile &file, const std::string &from, const std::string &folder) {
  if (!file.isRTexts)
    return copyInto(from, folder + "/" + file.to);
  // The index lies beside the data.
  auto texts = readRTexts(from);
  if (!texts)
    return texts.error();
  std::error_code error;
  const std::string in = file.to.empty() ? folder : folder + "/" + file.to;
  fs::create_directories(in, error);
  for (const RText &text : *texts) {
    if (text.name.empty() || text.name.find('/') != std::string::npos || text.name[0] == '.')
      return Error{fmt::format("{}: '{}' is no name of a file", from, text.name)};
    if (auto done = writeFileAtomically(fmt::format("{}/{}.txt", in, text.name), text.text); !done)
      return done;
  }
  return {};
}

Result<void> fill(const DataRecipe &recipe, const FetchOptions &options,
                  const std::string &folder) {
  TemporaryFolder unpacked(folder + ".packages");
  if (!unpacked.error().empty())
    return Error{unpacked.error()};
  Packages packages(unpacked.path(), options.packages);
  for (const SourceFile &file : recipe.files) {
    auto from = packages.find(file);
    if (!from)
      return from.error();
    if (auto done = place(file, *from, folder); !done)
      return done;
  }
  if (!recipe.tokenizerOf.empty()) {
    std::vector<std::string> specs;
    for (const std::string &spec : recipe.tokenizerOf) {
      auto whole = withFetchedData(spec, options);
      if (!whole)
        return whole.error();
      specs.push_back(std::move(*whole));
    }
    auto trained = trainTokenizer(specs, recipe.bpe);
    if (!trained)
      return trained.error();
    return writeFileAtomically(folder + "/tokenizer.json", trained->json);
  }
  return {};
}

/// A data set that is described otherwise, or was made of something else, is another one.
std::string cacheName(const DataRecipe &recipe, const std::vector<DataRecipe> &all) {
  std::string text = recipe.text;
  for (const std::string &spec : recipe.tokenizerOf)
    for (const DataRecipe &other : all)
      if (spec.find("{" + other.about.name + "}") != std::string::npos)
        text += other.text;
  return fmt::format("{}-{:08x}", recipe.about.name,
                     XXH3_64bits(text.data(), text.size()) & 0xffffffff);
}

} // namespace

Result<std::string> fetchData(const FetchOptions &options) {
  auto recipes = readCatalogue(options.catalogue);
  if (!recipes)
    return recipes.error();
  auto found = std::find_if(recipes->begin(), recipes->end(), [&](const DataRecipe &each) {
    return each.about.name == options.name;
  });
  if (found == recipes->end()) {
    std::vector<std::string> names;
    for (const DataRecipe &each : *recipes)
      names.push_back(each.about.name);
    return Error{fmt::format("no data set is called '{}'; there are {}", options.name,
                             fmt::join(names, ", "))};
  }
  std::error_code error;
  std::string target = options.out;
  if (target.empty()) {
    const std::string cache = userFolder("XDG_CACHE_HOME", ".cache");
    if (cache.empty())
      return Error{"there is no folder to keep data in: set XDG_CACHE_HOME to one of yours"};
    if (std::string fault = makePrivateFolder(cache); !fault.empty())
      return Error{fmt::format("{}; data is kept there: set XDG_CACHE_HOME to another folder of "
                               "yours",
                               fault)};
    target = cache + "/data/" + cacheName(*found, *recipes);
    if (fs::exists(target, error))
      return target;
  } else if (fs::exists(target, error)) {
    return Error{fmt::format("'{}' is there already: choose another name or remove it", target)};
  }
  target = fs::absolute(target, error).lexically_normal();
  if (!fs::path(target).has_filename())
    target = fs::path(target).parent_path();
  fs::create_directories(fs::path(target).parent_path(), error);
  TemporaryFolder folder(target);
  if (!folder.error().empty())
    return Error{folder.error()};
  FetchOptions parts = options; // of a tokenizer: kept in the cache
  parts.out.clear();
  if (auto done = fill(*found, parts, folder.path()); !done)
    return Error{fmt::format("data set '{}': {}", options.name, done.error().message)};
  if (!folder.commit().empty())
    return Error{folder.error()};
  return target;
}

Result<std::string> withFetchedData(const std::string &text, const FetchOptions &options) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t open = std::min(text.find('{', at), text.size());
    out.append(text, at, open - at);
    if (open == text.size())
      break;
    const size_t close = text.find('}', open);
    if (close == std::string::npos)
      return Error{fmt::format("'{}': a '{{' without '}}'", text)};
    FetchOptions one = options;
    one.name = text.substr(open + 1, close - open - 1);
    one.out.clear();
    auto folder = fetchData(one);
    if (!folder)
      return folder.error();
    out += *folder;
    at = close + 1;
  }
  return out;
}

Result<std::vector<FetchableData>> fetchableData(const std::string &catalogue) {
  auto recipes = readCatalogue(catalogue);
  if (!recipes)
    return recipes.error();
  std::vector<FetchableData> list;
  for (DataRecipe &each : *recipes)
    list.push_back(std::move(each.about));
  return list;
}

} // namespace hybrid::rt
