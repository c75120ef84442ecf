//===- Seal.cpp - what stands behind the contents of a .hyx ------------------===//
#include "executable/Seal.h"
#include <blake2.h>
#include <cstring>
#include <xxhash.h>

namespace hybrid {
namespace {

constexpr char mark[8] = {'H', 'Y', 'X', 'S', 'E', 'A', 'L', '1'};
constexpr size_t contentAt = 8, signatureAt = 40, checkAt = 72;

Digest digestOf(std::span<const std::byte> bytes) {
  Digest digest;
  blake2b(digest.data(), bytes.data(), nullptr, digest.size(), bytes.size(), 0);
  return digest;
}

Digest signatureOf(const Digest &content, const Key &key) {
  std::array<uint8_t, sizeof mark + 32> text;
  std::memcpy(text.data(), mark, sizeof mark);
  std::memcpy(text.data() + sizeof mark, content.data(), content.size());
  Digest signature;
  blake2b(signature.data(), text.data(), key.data(), signature.size(), text.size(), key.size());
  return signature;
}

} // namespace

bool Seal::isSignedWith(const Key &key) const {
  const Digest wanted = signatureOf(content, key);
  unsigned difference = 0; // in time that tells nothing of where they differ
  for (size_t i = 0; i < wanted.size(); ++i)
    difference |= static_cast<unsigned>(wanted[i] ^ signature[i]);
  return difference == 0;
}

std::array<std::byte, sealBytes> makeSeal(std::span<const std::byte> content,
                                          const std::optional<Key> &key) {
  std::array<std::byte, sealBytes> seal{};
  const Digest digest = digestOf(content), signature = key ? signatureOf(digest, *key) : Digest{};
  std::memcpy(seal.data(), mark, sizeof mark);
  std::memcpy(seal.data() + contentAt, digest.data(), digest.size());
  std::memcpy(seal.data() + signatureAt, signature.data(), signature.size());
  const uint64_t check = XXH3_64bits(seal.data(), checkAt);
  std::memcpy(seal.data() + checkAt, &check, sizeof check);
  return seal;
}

std::optional<Seal> checkSeal(std::span<const std::byte> file, std::string &fault) {
  if (file.size() < sealBytes ||
      std::memcmp(file.data() + file.size() - sealBytes, mark, sizeof mark) != 0) {
    fault = "truncated or damaged, or compiled by an earlier hybridc: the seal at the end of its " +
            std::to_string(file.size()) + " bytes is missing; copy it or compile the model again";
    return std::nullopt;
  }
  const std::span<const std::byte> content = file.first(file.size() - sealBytes),
                                   seal = file.last(sealBytes);
  uint64_t check;
  std::memcpy(&check, seal.data() + checkAt, sizeof check);
  Seal result;
  std::memcpy(result.content.data(), seal.data() + contentAt, result.content.size());
  std::memcpy(result.signature.data(), seal.data() + signatureAt, result.signature.size());
  if (check == XXH3_64bits(seal.data(), checkAt) && digestOf(content) == result.content)
    return result;
  fault = "damaged: its " + std::to_string(file.size()) +
          " bytes do not have the hash that they were written with; copy it or compile the model "
          "again";
  return std::nullopt;
}

std::string hexadecimal(const std::array<uint8_t, 32> &bytes) {
  std::string text;
  for (uint8_t byte : bytes)
    for (int shift : {4, 0})
      text += "0123456789abcdef"[byte >> shift & 15];
  return text;
}

} // namespace hybrid
