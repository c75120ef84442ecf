//===- Events.cpp - scalars for TensorBoard -----------------------------------===//
#include "training/record/Events.h"
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt {
namespace fs = std::filesystem;
namespace {

constexpr std::array<uint32_t, 256> makeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> table = makeTable();

/// The record format stores checksums rotated and shifted, so that a checksum of data that holds
/// checksums stays strong.
uint32_t masked(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

template <typename T> std::string littleEndian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// A field's key is its number and its wire type: 0 varint, 1 eight bytes, 2 length-delimited, 5
// four bytes.
std::string key(uint32_t field, uint32_t type) { return varint(field << 3 | type); }
std::string number(uint32_t field, uint64_t value) { return key(field, 0) + varint(value); }
std::string text(uint32_t field, const std::string &value) {
  return key(field, 2) + varint(value.size()) + value;
}

/// Event: wall_time = 1, step = 2, then one of file_version = 3, summary = 5, session_log = 7.
std::string event(int64_t step, const std::string &rest) {
  double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return key(1, 1) + littleEndian(now) + number(2, static_cast<uint64_t>(step)) + rest;
}

} // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (char byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

Result<EventFile> EventFile::create(const std::string &folder, int64_t step) {
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  // Readers take files in the order of their names. Two starts within a second get different names.
  std::string name;
  std::error_code unknown;
  for (int attempt = 0; attempt == 0 || (attempt < 1000 && fs::exists(name, unknown)); ++attempt)
    name = fmt::format("{}/events.out.tfevents.{:010}.{:03}.hybrid", folder, seconds, attempt);
  auto opened = AppendFile::open(name);
  if (!opened)
    return opened.error();
  EventFile events(std::move(*opened));
  if (auto done = events.append(event(0, text(3, "brain.Event:2"))); !done)
    return done.error();
  if (auto done = events.append(event(step, text(7, number(1, 1)))); !done) // SessionLog: START
    return done.error();
  return events;
}

Result<void> EventFile::scalars(int64_t step,
                                std::span<const std::pair<std::string, double>> values) {
  std::string summary;
  for (const auto &[tag, value] : values) // Summary.Value: tag = 1, simple_value = 2
    summary += text(1, text(1, tag) + key(2, 5) + littleEndian(static_cast<float>(value)));
  return append(event(step, text(5, summary)));
}

Result<void> EventFile::append(const std::string &message) {
  std::string length = littleEndian<uint64_t>(message.size());
  std::string record = length + littleEndian(masked(crc32c(length))) + message +
                       littleEndian(masked(crc32c(message)));
  return file.append(record);
}

} // namespace hybrid::rt
