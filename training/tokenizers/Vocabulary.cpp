//===- Vocabulary.cpp - tokens and their numbers ----------------------------===//
#include "training/tokenizers/Vocabulary.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hybrid::rt {

static uint32_t hashOf(std::string_view token) {
  return static_cast<uint32_t>(XXH3_64bits(token.data(), token.size()));
}

size_t Vocabulary::slotOf(std::string_view token, uint32_t hash) const {
  size_t mask = table.size() - 1, slot = hash & mask;
  while (table[slot].entry != none &&
         (table[slot].hash != hash || textOf(entries[table[slot].entry]) != token))
    slot = (slot + 1) & mask;
  return slot;
}

void Vocabulary::grow(size_t slots) {
  table.assign(slots, {});
  for (uint32_t i = 0; i < entries.size(); ++i) {
    std::string_view token = textOf(entries[i]);
    uint32_t hash = hashOf(token);
    table[slotOf(token, hash)] = {hash, i};
  }
}

void Vocabulary::reserve(size_t tokens) {
  size_t slots = 64;
  while (slots < 2 * tokens)
    slots *= 2;
  if (slots > table.size())
    grow(slots);
  entries.reserve(tokens);
}

bool Vocabulary::add(std::string_view token, uint32_t id) {
  if (table.size() < 2 * (entries.size() + 1))
    grow(std::max<size_t>(64, 2 * table.size()));
  if (has(id) && (*this)[id] != token)
    return false;
  uint32_t hash = hashOf(token);
  size_t slot = slotOf(token, hash);
  if (uint32_t entry = table[slot].entry; entry != none) {
    tokenOf[entries[entry].id] = none;
    entries[entry].id = id;
  } else {
    table[slot] = {hash, static_cast<uint32_t>(entries.size())};
    entries.push_back({text.size(), static_cast<uint32_t>(token.size()), id});
    text += token;
  }
  if (tokenOf.size() <= id)
    tokenOf.resize(id + 1, none);
  tokenOf[id] = table[slot].entry;
  return true;
}

int32_t Vocabulary::find(std::string_view token) const {
  if (table.empty())
    return -1;
  const Slot &slot = table[slotOf(token, hashOf(token))];
  return slot.entry == none ? -1 : static_cast<int32_t>(entries[slot.entry].id);
}

std::string_view Vocabulary::operator[](uint32_t id) const {
  return has(id) ? textOf(entries[tokenOf[id]]) : std::string_view();
}

} // namespace hybrid::rt
