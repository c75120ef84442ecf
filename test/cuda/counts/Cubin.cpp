//===- Cubin.cpp - what machine code takes of a multiprocessor --------------===//
#include "test/cuda/counts/Cubin.h"
#include <cstring>
#include <elf.h>
#include <vector>

namespace hybrid::counts {
namespace {

template <typename T> bool readAt(std::span<const std::byte> from, uint64_t offset, T &into) {
  if (offset > from.size() || sizeof(T) > from.size() - offset)
    return false;
  std::memcpy(&into, from.data() + offset, sizeof(T));
  return true;
}

std::string textAt(std::span<const std::byte> from, uint64_t offset) {
  std::string text;
  for (uint64_t i = offset; i < from.size() && from[i] != std::byte(0); ++i)
    text += static_cast<char>(from[i]);
  return text;
}

} // namespace

std::map<std::string, Resources> resourcesOf(std::span<const std::byte> image) {
  std::map<std::string, Resources> found;
  Elf64_Ehdr header;
  if (!readAt(image, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG))
    return found;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (size_t i = 0; i < sections.size(); ++i)
    if (!readAt(image, header.e_shoff + i * sizeof(Elf64_Shdr), sections[i]))
      return found;
  auto contentOf = [&](const Elf64_Shdr &section) -> std::span<const std::byte> {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > image.size() ||
        section.sh_size > image.size() - section.sh_offset)
      return {};
    return image.subspan(section.sh_offset, section.sh_size);
  };
  if (header.e_shstrndx >= sections.size())
    return found;
  const auto names = contentOf(sections[header.e_shstrndx]);
  std::span<const std::byte> information, symbols, symbolNames;
  constexpr std::string_view code = ".text.";
  for (const Elf64_Shdr &section : sections) {
    const std::string name = textAt(names, section.sh_name);
    if (name.starts_with(code))
      found[name.substr(code.size())].codeBytes = section.sh_size;
    else if (name == ".nv.info")
      information = contentOf(section);
    else if (section.sh_type == SHT_SYMTAB && section.sh_link < sections.size())
      symbols = contentOf(section), symbolNames = contentOf(sections[section.sh_link]);
  }
  // Records: a format, an attribute, and 16 bits that are the value or the bytes of one behind.
  constexpr uint8_t hasBytes = 4, registerCount = 0x2f;
  for (uint64_t at = 0; at + 4 <= information.size();) {
    uint16_t bytes = 0;
    readAt(information, at + 2, bytes);
    const auto format = static_cast<uint8_t>(information[at]),
               attribute = static_cast<uint8_t>(information[at + 1]);
    uint32_t symbol = 0, registers = 0;
    Elf64_Sym entry;
    if (format == hasBytes && attribute == registerCount && readAt(information, at + 4, symbol) &&
        readAt(information, at + 8, registers) &&
        readAt(symbols, uint64_t(symbol) * sizeof(Elf64_Sym), entry))
      if (auto kernel = found.find(textAt(symbolNames, entry.st_name)); kernel != found.end())
        kernel->second.registers = registers;
    at += 4 + (format == hasBytes ? bytes : 0u);
  }
  return found;
}

} // namespace hybrid::counts
