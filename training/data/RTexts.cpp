//===- RTexts.cpp - texts in an R package's data ----------------------------===//
//
// Only what such files hold is read: lists, symbols, strings and numbers. Sizes are checked against
// the bytes that are left before anything is allocated.
//
//===----------------------------------------------------------------------===//
#include "training/data/RTexts.h"
#include "runtime/files/File.h"
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <zlib.h>

namespace hybrid::rt {
namespace {

constexpr uint64_t largestObject = uint64_t{256} << 20;
constexpr size_t mostListItems = size_t{1} << 20; // of all lists: far more than a package has

/// A part of what R has objects for. A vector of numbers keeps them as doubles.
struct RObject {
  enum Kind : uint8_t { Nothing, Symbol, String, Strings, Numbers, List } kind = Nothing;
  std::string text;               // of a symbol or string
  std::vector<std::string> texts; // of strings
  std::vector<double> numbers;    //
  std::vector<RObject> items;     // of a list
  std::vector<std::string> names; // of its items, or empty
};

class XdrReader {
public:
  explicit XdrReader(std::span<const std::byte> bytes) : bytes(bytes) {}

  Result<RObject> read() {
    RObject object;
    if (bytes.size() < 14 || std::memcmp(bytes.data(), "X\n", 2) != 0) {
      note("an object in R's XDR format is expected");
    } else {
      at = 2;
      const int32_t version = integer();
      integer(), integer(); // of R
      if (version == 3)
        raw(count(1)); // the name of an encoding
      else if (version != 2)
        note(fmt::format("format {} is not known", version));
      object = item(0);
    }
    if (!fault.empty())
      return Error{fault};
    return object;
  }

private:
  enum Type : uint8_t {
    SymbolType = 1,
    PairsType = 2,
    CharacterType = 9,
    LogicalType = 10,
    IntegerType = 13,
    RealType = 14,
    StringsType = 16,
    ListType = 19,
    NilType = 254,
    ReferenceType = 255
  };

  void note(const std::string &what) {
    if (fault.empty())
      fault = fmt::format("byte {} of the unpacked object: {}", at, what);
    at = bytes.size();
  }
  const std::byte *raw(size_t size) {
    if (size > bytes.size() - at) {
      note("it ends here");
      return nullptr;
    }
    at += size;
    return bytes.data() + at - size;
  }
  uint64_t word(size_t size) {
    const std::byte *from = raw(size);
    uint64_t value = 0;
    for (size_t i = 0; from && i < size; ++i)
      value = value << 8 | static_cast<uint8_t>(from[i]);
    return value;
  }
  int32_t integer() { return static_cast<int32_t>(word(4)); }
  /// A number of elements of at least `size` bytes each.
  size_t count(size_t size) {
    const int32_t value = integer();
    if (fault.empty() && (value < 0 || static_cast<size_t>(value) > (bytes.size() - at) / size)) {
      note(fmt::format("there are not {} elements", value));
      return 0;
    }
    return fault.empty() ? static_cast<size_t>(value) : 0;
  }

  RObject item(int depth) {
    RObject object;
    if (depth > 32) {
      note("lists lie too deep in each other");
      return object;
    }
    auto flags = static_cast<uint32_t>(integer());
    if (!fault.empty())
      return object;
    if ((flags & 255) != CharacterType && ++items > mostListItems) {
      note("there are too many objects");
      return object;
    }
    const bool hasAttributes = flags >> 9 & 1;
    switch (flags & 255) {
    case NilType:
      return object;
    case ReferenceType: {
      const size_t index = flags >> 8;
      if (index < 1 || index > symbols.size()) {
        note(fmt::format("symbol {} is not there", index));
        return object;
      }
      object.kind = RObject::Symbol;
      object.text = symbols[index - 1];
      return object;
    }
    case SymbolType:
      object = item(depth + 1);
      object.kind = RObject::Symbol;
      symbols.push_back(object.text);
      return object;
    case CharacterType: {
      object.kind = RObject::String;
      const int32_t size = integer(); // -1: not available
      if (size < -1)
        note(fmt::format("a string of {} bytes", size));
      else if (const std::byte *from = size > 0 ? raw(static_cast<size_t>(size)) : nullptr)
        object.text.assign(reinterpret_cast<const char *>(from), static_cast<size_t>(size));
      return object;
    }
    case PairsType:
      return pairs(flags, depth);
    case LogicalType:
    case IntegerType:
    case RealType: {
      object.kind = RObject::Numbers;
      const bool isReal = (flags & 255) == RealType;
      for (size_t left = count(isReal ? 8 : 4); left > 0; --left) {
        uint64_t bits = isReal ? word(8) : 0;
        double value = 0;
        std::memcpy(&value, &bits, 8);
        object.numbers.push_back(isReal ? value : integer());
      }
      break;
    }
    case StringsType: {
      object.kind = RObject::Strings;
      for (size_t left = count(8); left > 0 && fault.empty(); --left)
        object.texts.push_back(item(depth + 1).text);
      break;
    }
    case ListType: {
      object.kind = RObject::List;
      for (size_t left = count(4); left > 0 && fault.empty(); --left)
        object.items.push_back(item(depth + 1));
      break;
    }
    default:
      note(fmt::format("objects of type {} are not read", flags & 255));
      return object;
    }
    if (hasAttributes && fault.empty()) {
      const RObject attributes = item(depth + 1);
      for (size_t i = 0; i < attributes.items.size() && i < attributes.names.size(); ++i)
        if (attributes.names[i] == "names")
          object.names = attributes.items[i].texts;
    }
    return object;
  }

  /// A list of pairs, which is a chain: each has flags of its own.
  RObject pairs(uint32_t flags, int depth) {
    RObject list;
    list.kind = RObject::List;
    while (fault.empty() && (flags & 255) == PairsType) {
      if (flags >> 9 & 1)
        item(depth + 1);
      list.names.push_back(flags >> 10 & 1 ? item(depth + 1).text : "");
      list.items.push_back(item(depth + 1));
      flags = static_cast<uint32_t>(integer());
    }
    if (fault.empty() && (flags & 255) != NilType)
      note("a list of pairs has no end");
    return list;
  }

  std::span<const std::byte> bytes;
  size_t at = 0;
  std::string fault;
  std::vector<std::string> symbols;
  size_t items = 0; // that were no strings
};

/// Unpacks zlib or gzip data of at most `limit` bytes; empty: damaged, or longer.
std::vector<std::byte> inflated(std::span<const std::byte> packed, uint64_t limit) {
  z_stream stream{};
  if (inflateInit2(&stream, 47) != Z_OK) // the largest window; zlib and gzip
    return {};
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::byte> out;
  int state = Z_OK;
  while (state == Z_OK && out.size() < limit) {
    const size_t had = out.size();
    out.resize(std::min<uint64_t>(limit, std::max<size_t>(4096, 2 * had)));
    stream.next_out = reinterpret_cast<Bytef *>(out.data() + had);
    stream.avail_out = static_cast<uInt>(out.size() - had);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END ? out : std::vector<std::byte>();
}

/// The list called `name` in a list.
const RObject *listIn(const RObject &list, const std::string &name) {
  for (size_t i = 0; i < list.items.size() && i < list.names.size(); ++i)
    if (list.names[i] == name && list.items[i].kind == RObject::List)
      return &list.items[i];
  return nullptr;
}

std::string linesOf(const RObject &strings) {
  std::string text;
  for (const std::string &line : strings.texts)
    text += line + "\n";
  return text;
}

} // namespace

Result<std::string> textOfRObject(std::span<const std::byte> serialized) {
  Result<RObject> object = XdrReader(serialized).read();
  if (!object)
    return object.error();
  if (object->kind != RObject::Strings)
    return Error{"it is no vector of strings"};
  return linesOf(*object);
}

Result<std::vector<RText>> readRTexts(const std::string &path) {
  if (!path.ends_with(".rdb"))
    return Error{fmt::format("'{}': an R package's data is called Rdata.rdb", path)};
  const std::string indexPath = path.substr(0, path.size() - 1) + "x";
  Result<MappedFile> index = MappedFile::open(indexPath), data = MappedFile::open(path);
  if (!index)
    return index.error();
  if (!data)
    return data.error();
  const std::vector<std::byte> plain = inflated(index->bytes(), largestObject);
  Result<RObject> read = XdrReader(plain).read();
  if (!read)
    return Error{fmt::format("{}: {}", indexPath, read.error().message)};
  const RObject *variables = listIn(*read, "variables");
  if (!variables || variables->names.size() != variables->items.size())
    return Error{fmt::format("{}: a list 'variables' with names is expected", indexPath)};
  std::vector<RText> texts;
  for (size_t i = 0; i < variables->items.size(); ++i) {
    const std::string &name = variables->names[i];
    const std::vector<double> &place = variables->items[i].numbers; // first byte, and how many
    const auto bytes = data->bytes();
    if (place.size() != 2 || !(place[0] >= 0) || !(place[1] >= 4) ||
        !(place[0] + place[1] <= static_cast<double>(bytes.size())))
      return Error{fmt::format("{}: '{}' has no place among the {} bytes of {}", indexPath, name,
                               bytes.size(), path)};
    const auto packed = bytes.subspan(static_cast<size_t>(place[0]) + 4,
                                      static_cast<size_t>(place[1]) - 4); // behind its size
    const std::vector<std::byte> object = inflated(packed, largestObject);
    if (object.empty())
      return Error{
          fmt::format("{}: '{}' at byte {}: the compressed data is damaged", path, name, place[0])};
    Result<RObject> content = XdrReader(object).read();
    if (!content)
      return Error{
          fmt::format("{}: '{}' at byte {}: {}", path, name, place[0], content.error().message)};
    if (content->kind == RObject::Strings)
      texts.push_back({name, linesOf(*content)});
  }
  return texts;
}

} // namespace hybrid::rt
