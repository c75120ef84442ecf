//===- Spaces.h - what programs touch of which memory, and how large it is --===//
#pragma once
#include "executable/Executable_generated.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hybrid {

constexpr size_t spaceCount = 6; // without Tile

/// The buffers of a launch or of attention; of a product a, b, c, bias, offsets and addend where it
/// has them; real numbers and spectrum of a transform; none of a loop.
std::vector<fb::BufferRef> buffersOf(const fb::Step &step);
/// The spaces that a program's inputs, outputs and steps lie in, and the arena.
std::array<bool, spaceCount> spacesOf(const fb::Program &program);
/// Whether it reads or writes gradients or moments: a session that does not train cannot run it.
bool touchesTraining(const fb::Program &program);

/// Whether a step of the program has an input of this name among its buffers; no such input: no.
bool takesInput(const fb::Program &program, std::string_view name);

/// Bytes of a space, of one replica. Of Tile: of the tile that needs most.
uint64_t spaceBytes(const fb::Executable &executable, fb::Space space);
/// Bytes from one replica to the next in a space that each has a part of; 0 for Constants. Of Tile,
/// when the tiles that follow one another use the same memory, as on a GPU.
uint64_t replicaStrideOf(const fb::Executable &executable, fb::Space space);

} // namespace hybrid
