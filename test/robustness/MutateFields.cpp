//===- MutateFields.cpp - every field of an executable, changed ---------------===//
//
//   usage: MutateFields SCHEMA.bfbs MODEL.hyx [PART OF]
//
// Changes each number, flag, text and length in the file, one at a time, and runs all programs of
// what is still accepted: it is refused with a reason, fails with one, or runs. With PART and OF
// only each OF-th change is tried. A child does the work, so that a crash is seen and counted.
//
//===----------------------------------------------------------------------===//
#include "executable/Seal.h"
#include "runtime/Session.h"
#include "runtime/files/File.h"
#include <cstdio>
#include <cstring>
#include <flatbuffers/reflection.h>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace hybrid;
using namespace hybrid::rt;

namespace {

/// A value in the file: where it lies and what it may become.
struct Slot {
  uint64_t at;
  unsigned size;
  std::string name;
  std::vector<uint64_t> values;
};

class Slots {
public:
  Slots(const reflection::Schema &schema, std::span<const std::byte> file)
      : schema(schema), begin(reinterpret_cast<const uint8_t *>(file.data())) {
    table(*flatbuffers::GetAnyRoot(begin), *schema.root_table(), "");
  }
  std::vector<Slot> found;

private:
  using BaseType = reflection::BaseType;

  template <typename T> void number(const uint8_t *data, const std::string &name) {
    T value;
    std::memcpy(&value, data, sizeof value);
    std::vector<T> others;
    if constexpr (std::is_floating_point_v<T>)
      others = {0, -value, value * 2, std::numeric_limits<T>::quiet_NaN(),
                std::numeric_limits<T>::infinity()};
    else
      others = {0,
                1,
                static_cast<T>(-1),
                static_cast<T>(value + 1),
                static_cast<T>(value - 1),
                static_cast<T>(value + 4),
                static_cast<T>(value + 64),
                static_cast<T>(value * 2),
                static_cast<T>(value / 2),
                static_cast<T>(value * 1000),
                std::numeric_limits<T>::max(),
                std::numeric_limits<T>::min(),
                static_cast<T>(uint64_t(1) << 31),
                static_cast<T>(uint64_t(1) << 39)};
    Slot slot{static_cast<uint64_t>(data - begin), sizeof(T), name, {}};
    for (T other : others)
      if (std::memcmp(&other, &value, sizeof value) != 0) {
        uint64_t bits = 0;
        std::memcpy(&bits, &other, sizeof other);
        slot.values.push_back(bits);
      }
    add(std::move(slot));
  }

  void add(Slot slot) {
    if (seen.insert(slot.at).second)
      found.push_back(std::move(slot));
  }

  void scalar(const uint8_t *data, BaseType type, const std::string &name) {
    switch (type) {
    case BaseType::Bool:
      return add({static_cast<uint64_t>(data - begin), 1, name, {uint64_t(*data ^ 1)}});
    case BaseType::Float:
      return number<float>(data, name);
    case BaseType::Double:
      return number<double>(data, name);
    default:
      break;
    }
    switch (flatbuffers::GetTypeSize(type)) {
    case 1:
      return number<uint8_t>(data, name);
    case 2:
      return number<uint16_t>(data, name);
    case 4:
      return type == BaseType::Int ? number<int32_t>(data, name) : number<uint32_t>(data, name);
    default:
      return type == BaseType::Long ? number<int64_t>(data, name) : number<uint64_t>(data, name);
    }
  }

  void structure(const uint8_t *data, const reflection::Object &object, const std::string &name) {
    for (const reflection::Field *field : *object.fields())
      scalar(data + field->offset(), field->type()->base_type(), name + "." + field->name()->str());
  }

  const reflection::Object &objectOf(const reflection::Type &type) const {
    return *schema.objects()->Get(static_cast<flatbuffers::uoffset_t>(type.index()));
  }

  /// A length, as it stands in front of elements.
  template <typename Vector> void length(const Vector &vector, const std::string &name) {
    const uint32_t count = vector.size();
    std::vector<uint64_t> others{count + 1};
    if (count)
      others.insert(others.end(), {0, count - 1});
    add({static_cast<uint64_t>(reinterpret_cast<const uint8_t *>(&vector) - begin), 4,
         name + ".length", others});
  }

  void vector(const flatbuffers::VectorOfAny &vector, const reflection::Type &type,
              const std::string &name) {
    length(vector, name);
    const uint8_t *data = vector.Data();
    // Of machine code and constants some bytes.
    const bool isBytes = type.element() == BaseType::UByte;
    const uint32_t step = isBytes ? vector.size() / 4 + 1 : 1;
    for (uint32_t i = 0; i < vector.size(); i += step) {
      const std::string element = fmt::format("{}[{}]", name, i);
      if (type.element() == BaseType::Obj && objectOf(type).is_struct()) {
        structure(data + i * static_cast<uint32_t>(objectOf(type).bytesize()), objectOf(type),
                  element);
      } else if (type.element() == BaseType::Obj) {
        table(*flatbuffers::IndirectHelper<flatbuffers::Offset<flatbuffers::Table>>::Read(data, i),
              objectOf(type), element);
      } else if (type.element() == BaseType::String) {
        text(*flatbuffers::IndirectHelper<flatbuffers::Offset<flatbuffers::String>>::Read(data, i),
             element);
      } else {
        scalar(data + i * flatbuffers::GetTypeSize(type.element()), type.element(), element);
      }
    }
  }

  void text(const flatbuffers::String &string, const std::string &name) {
    length(string, name);
    if (string.size())
      number<uint8_t>(string.Data(), name);
  }

  void table(const flatbuffers::Table &at, const reflection::Object &object,
             const std::string &name) {
    for (const reflection::Field *field : *object.fields()) {
      const uint8_t *data = at.GetAddressOf(field->offset());
      if (!data)
        continue; // has its default, and no place in the file
      const reflection::Type &type = *field->type();
      const std::string own = (name.empty() ? "" : name + ".") + field->name()->str();
      const uint8_t *pointed = data + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(data);
      switch (type.base_type()) {
      case BaseType::Obj:
        if (objectOf(type).is_struct())
          structure(data, objectOf(type), own);
        else
          table(*reinterpret_cast<const flatbuffers::Table *>(pointed), objectOf(type), own);
        break;
      case BaseType::String:
        text(*reinterpret_cast<const flatbuffers::String *>(pointed), own);
        break;
      case BaseType::Vector:
        vector(*reinterpret_cast<const flatbuffers::VectorOfAny *>(pointed), type, own);
        break;
      case BaseType::Union:
        table(*reinterpret_cast<const flatbuffers::Table *>(pointed),
              flatbuffers::GetUnionType(schema, object, *field, at), own);
        break;
      default:
        scalar(data, type.base_type(), own);
      }
    }
  }

  const reflection::Schema &schema;
  const uint8_t *begin;
  std::set<uint64_t> seen; // vectors and tables may be shared
};

/// What became of a changed file.
enum Outcome { Ran, Refused, Failed, Outcomes };

/// Runs every program on inputs that any model takes.
Outcome run(std::vector<std::byte> file) {
  auto executable = Executable::fromBytes(std::move(file), "changed.hyx");
  if (!executable)
    return Refused;
  auto session = Session::create(*executable, {2});
  if (!session)
    return Failed;
  if (!(*session)->initialize(1))
    return Failed;
  Outcome outcome = Ran;
  for (const ProgramInfo &program : (*executable)->programs()) {
    if (program.name == "setup" || program.name == "init")
      continue;
    for (const TensorInfo &input : program.inputs) {
      std::span<std::byte> memory = (*session)->input(program.name, input.name);
      const auto count = memory.size() / static_cast<size_t>(bytesOf(input.dtype));
      for (size_t i = 0; i < count; ++i) {
        const int32_t whole = static_cast<int32_t>(i % 3);
        const double wide = 0.25 + 0.125 * whole;
        const auto narrow = static_cast<float>(wide);
        if (input.dtype == DType::I32)
          std::memcpy(memory.data() + i * 4, &whole, 4);
        else if (input.dtype == DType::F64)
          std::memcpy(memory.data() + i * 8, &wide, 8);
        else if (input.dtype == DType::F32)
          std::memcpy(memory.data() + i * 4, &narrow, 4);
      }
    }
    if (!(*session)->run(program.name))
      outcome = Failed;
    for (const TensorInfo &output : program.outputs)
      (void)(*session)->output(program.name, output.name);
  }
  return outcome;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3 && argc != 5)
    return std::fprintf(stderr, "usage: MutateFields SCHEMA.bfbs MODEL.hyx [PART OF]\n"), 2;
  auto schemaBytes = readFile(argv[1], 1 << 24), read = readFile(argv[2], 1 << 28);
  std::string fault;
  if (!schemaBytes || !read || !checkSeal(*read, fault))
    return std::fprintf(stderr, "cannot use %s or %s: %s\n", argv[1], argv[2], fault.c_str()), 2;
  const std::vector<std::byte> file(read->begin(), read->end() - sealBytes);
  const Slots slots(*reflection::GetSchema(schemaBytes->data()), file);
  const unsigned long part = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0,
                      of = argc > 3 ? std::strtoul(argv[4], nullptr, 10) : 1;
  std::map<int, int> counts;
  unsigned long number = 0;
  int crashes = 0;
  for (const Slot &slot : slots.found)
    for (uint64_t value : slot.values) {
      if (number++ % of != part)
        continue;
      std::vector<std::byte> changed = file;
      std::memcpy(changed.data() + slot.at, &value, slot.size);
      std::fflush(nullptr);
      const pid_t child = fork();
      if (child == 0) {
        alarm(60);
        _exit(run(std::move(changed)));
      }
      int status = 0;
      if (child < 0 || waitpid(child, &status, 0) != child)
        return std::perror("fork"), 2;
      if (WIFEXITED(status) && WEXITSTATUS(status) < Outcomes) {
        ++counts[WEXITSTATUS(status)];
        continue;
      }
      ++crashes;
      fmt::print("CRASH: {} = {:#x}: {}\n", slot.name, value,
                 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
    }
  fmt::print("{}: {} fields; {} refused, {} failed with a reason, {} ran, {} crashed\n", argv[2],
             slots.found.size(), counts[Refused], counts[Failed], counts[Ran], crashes);
  return crashes ? 1 : 0;
}
