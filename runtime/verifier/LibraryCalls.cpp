//===- LibraryCalls.cpp - products, attention, transforms by libraries --===//
#include "executable/Limits.h"
#include "runtime/verifier/Verifier.h"
#include <cmath>

namespace hybrid::rt::verifier {

Result<void> Verifier::checkMatmul(const fb::Matmul &matmul, const std::string &where) const {
  if (matmul.m() < 1 || matmul.n() < 1 || matmul.k() < 1 || matmul.batch() < 1)
    return error("corrupt: {} is a matrix product of m = {}, n = {}, k = {}, batch = {}", where,
                 matmul.m(), matmul.n(), matmul.k(), matmul.batch());
  const bool grouped = matmul.offsets() != nullptr;
  if (matmul.dtype() != fb::DType::F32 && matmul.dtype() != fb::DType::F64 &&
      (matmul.dtype() != fb::DType::BF16 || grouped))
    return error("corrupt: {} is a matrix product in type {}, but {} was expected", where,
                 static_cast<unsigned>(matmul.dtype()),
                 grouped ? "f32 or f64" : "f32, f64 or bf16");
  if (matmul.addend() && (!onCuda || loop || grouped || matmul.accumulate()))
    return error("corrupt: {} has an addend, which it cannot have here", where);
  if (matmul.rounds_result() && (matmul.dtype() != fb::DType::BF16 || grouped || matmul.addend() ||
                                 matmul.accumulate() || matmul.tile_sum()))
    return error("corrupt: {} rounds its result, which it cannot do here", where);
  if (!loop && (matmul.tile_rows() || matmul.tile_sum()))
    return error("corrupt: {} is cut for tiles, but in no loop over tiles", where);
  if (matmul.c() && !mayWrite(*matmul.c()))
    return error("corrupt: {} writes to space {}, which only other programs change", where,
                 fb::EnumNameSpace(matmul.c()->space()));
  if (loop) {
    bool cut = matmul.tile_rows() != matmul.tile_sum() && !grouped && matmul.batch() == 1;
    bool whole = matmul.tile_rows() ? matmul.m() == loop->rows() && !matmul.transpose_a()
                                    : matmul.k() == loop->rows() && matmul.transpose_a() &&
                                          !matmul.transpose_b() && loop->sequential();
    if (!cut || !whole)
      return error("corrupt: {} ({} x {} x {}) does not say how tiles of {} rows cut it", where,
                   matmul.m(), matmul.n(), matmul.k(), loop->rows());
  }
  struct Operand {
    std::string_view name;
    const fb::BufferRef *buffer;
    int64_t rows, columns, stride, batchStride;
    unsigned size; // bytes of an element
  };
  const auto factor = static_cast<unsigned>(bytesOf(static_cast<DType>(matmul.dtype())));
  // Products of bf16 are summed in f32.
  const unsigned sum = matmul.rounds_result() ? factor : std::max(factor, 4u);
  const bool ta = matmul.transpose_a(), tb = matmul.transpose_b();
  const Operand operands[] = {
      {"a", matmul.a(), ta ? matmul.k() : matmul.m(), ta ? matmul.m() : matmul.k(), matmul.lda(),
       matmul.batch_stride_a(), factor},
      {"b", matmul.b(), tb ? matmul.n() : matmul.k(), tb ? matmul.k() : matmul.n(), matmul.ldb(),
       matmul.batch_stride_b(), factor},
      {"c", matmul.c(), matmul.m(), matmul.n(), matmul.ldc(), matmul.batch_stride_c(), sum},
      {"bias", matmul.bias(), 1, matmul.n(), matmul.n(), 0, sum},
      {"addend", matmul.addend(), matmul.m(), matmul.n(), matmul.ld_addend(),
       matmul.batch_stride_addend(), sum}};
  for (const Operand &operand : operands) {
    if (!operand.buffer && (operand.name == "bias" || operand.name == "addend"))
      continue;
    std::string what = fmt::format("operand {} of {}", operand.name, where);
    if (!operand.buffer)
      return error("corrupt: {} has no place in memory", what);
    if (Result<void> done = checkBuffer(*operand.buffer, what); !done)
      return done;
    if (operand.stride < operand.columns || operand.batchStride < 0)
      return error("corrupt: {} has {} columns, but a row stride of {} and a batch stride of {}",
                   what, operand.columns, operand.stride, operand.batchStride);
    // All factors are below 2^63 and only two are multiplied, so 128 bits cannot overflow before
    // the final factor; extents beyond any space are refused first to keep that true.
    using Wide = unsigned __int128;
    // In a tile lie only the rows that the loop cuts.
    const bool inTile = operand.buffer->space() == fb::Space::Tile;
    const bool cut = loop && (operand.name == "a" || operand.name == (ta ? "b" : "c"));
    if (inTile && !cut)
      return error("corrupt: {} is in a tile, but all of it is needed", what);
    Wide extent = Wide((inTile ? std::min(operand.rows, loop->tile()) : operand.rows) - 1) *
                      Wide(operand.stride) +
                  Wide(operand.columns);
    Wide batches = Wide(matmul.batch() - 1) * Wide(operand.batchStride);
    if (extent > mostSpaceBytes || batches > mostSpaceBytes ||
        (extent + batches) * operand.size > operand.buffer->bytes())
      return error("corrupt: {} ({} x {}, stride {}, {} of them) leaves its {} bytes", what,
                   operand.rows, operand.columns, operand.stride, matmul.batch(),
                   operand.buffer->bytes());
    if (operand.buffer->offset() % operand.size)
      return error("corrupt: {} is misaligned at offset {}", what, operand.buffer->offset());
  }
  if (grouped) {
    const fb::BufferRef *offsets = matmul.offsets();
    std::string what = fmt::format("the offsets of {}", where);
    if (Result<void> done = checkBuffer(*offsets, what); !done)
      return done;
    using Wide = unsigned __int128;
    if (offsets->offset() % 4 || (Wide(matmul.batch()) + 1) * 4 > offsets->bytes())
      return error("corrupt: {} have {} bytes at offset {}, but there are {} groups", what,
                   offsets->bytes(), offsets->offset(), matmul.batch());
    if (matmul.bias() || matmul.accumulate())
      return error("corrupt: {} has groups and a bias or accumulates", where);
    if (matmul.batch_stride_a() || (ta ? matmul.batch_stride_b() : matmul.batch_stride_c()))
      return error("corrupt: {} has groups of rows that are strided", where);
  }
  if (matmul.batch() > 1 && matmul.batch_stride_c() == 0 && (ta || !grouped))
    return error("corrupt: {} writes all its {} products to one place", where, matmul.batch());
  return {};
}

Result<void> Verifier::checkAttention(const fb::Attention &attention, const std::string &where) {
  const int64_t batch = attention.batch(), length = attention.length(),
                keyLength = attention.key_length(), heads = attention.heads(),
                kvHeads = attention.kv_heads(), headSize = attention.head_size();
  if (!onCuda || loop)
    return error("corrupt: {} is attention by a library, but {}", where,
                 loop ? "in a loop over tiles" : "not for a GPU");
  for (int64_t size : {batch, length, keyLength, heads, kvHeads, headSize})
    if (size < 1 || size > mostAttentionSize)
      return error("corrupt: {} is attention with a size of {}", where, size);
  if (heads % kvHeads != 0 || (attention.causal() && length != keyLength) ||
      !std::isfinite(attention.scale()))
    return error("corrupt: {} is attention of {} heads over {}, {} queries over {} keys{}, scale "
                 "{}",
                 where, heads, kvHeads, length, keyLength, attention.causal() ? ", causal" : "",
                 attention.scale());
  const bool backward = attention.backward();
  const unsigned buffers = attention.buffers() ? attention.buffers()->size() : 0,
                 strides = attention.strides() ? attention.strides()->size() : 0;
  if (buffers != (backward ? 10 : 5) || strides != (backward ? 24 : 12))
    return error("corrupt: {} is attention with {} buffers and {} strides", where, buffers,
                 strides);
  if (!isAligned(*attention.buffers()))
    return error("corrupt: the buffers of {} are misaligned in the file", where);
  buffersSeen += buffers;
  if (buffersSeen > mostBuffers)
    return error("corrupt: {} and those before it touch more than {} buffers", where, mostBuffers);
  // Of queries and of keys, in the order of buffers; 's' for statistics.
  constexpr std::string_view kinds = "qkkqsqqkks";
  using Wide = unsigned __int128;
  unsigned stride = 0;
  for (unsigned i = 0; i < buffers; ++i) {
    const fb::BufferRef &buffer = *attention.buffers()->Get(i);
    const std::string what = fmt::format("buffer {} of {}", i, where);
    if (Result<void> done = checkBuffer(buffer, what); !done)
      return done;
    if (kinds[i] == 's') {
      if (buffer.offset() % 4 || Wide(batch) * Wide(heads) * Wide(length) * 4 > buffer.bytes())
        return error("corrupt: {} (statistics) has {} bytes at offset {}", what, buffer.bytes(),
                     buffer.offset());
      continue;
    }
    const bool isQuery = kinds[i] == 'q';
    const int64_t counts[] = {batch, isQuery ? length : keyLength, isQuery ? heads : kvHeads};
    Wide extent = Wide(headSize);
    bool aligned = buffer.offset() % 16 == 0;
    for (int64_t count : counts) {
      const int64_t distance = attention.strides()->Get(stride++);
      if (distance < 0 || static_cast<uint64_t>(distance) > mostSpaceBytes)
        return error("corrupt: {} has a stride of {}", what, distance);
      extent += Wide(count - 1) * Wide(distance);
      aligned = aligned && distance % 8 == 0;
    }
    if (extent * 2 > buffer.bytes())
      return error("corrupt: {} leaves its {} bytes", what, buffer.bytes());
    if (!aligned)
      return error("corrupt: {} has heads that do not begin at multiples of 16 bytes", what);
  }
  return {};
}

Result<void> Verifier::checkTransform(const fb::Transform &transform, const std::string &where) {
  if (!onCuda || loop)
    return error("corrupt: {} is a transform by a library, but {}", where,
                 loop ? "in a loop over tiles" : "not for a GPU");
  const int64_t points = transform.points(), signals = transform.signals();
  for (int64_t size : {points, signals})
    if (size < 1 || size >= mostTransformSize)
      return error("corrupt: {} is a transform with a size of {}", where, size);
  if (transform.dtype() != fb::DType::F32 && transform.dtype() != fb::DType::F64)
    return error("corrupt: {} is a transform in type {}, but f32 or f64 was expected", where,
                 static_cast<unsigned>(transform.dtype()));
  struct Operand {
    std::string_view name;
    const fb::BufferRef *buffer;
    int64_t rows;
    unsigned size; // bytes of an element
    bool written;
  };
  const auto size = static_cast<unsigned>(bytesOf(static_cast<DType>(transform.dtype())));
  const Operand operands[] = {{"real", transform.real(), points, size, transform.inverse()},
                              {"spectrum", transform.spectrum(), points / 2 + 1, 2 * size, true}};
  buffersSeen += 2;
  for (const Operand &operand : operands) {
    const std::string what = fmt::format("operand {} of {}", operand.name, where);
    if (!operand.buffer)
      return error("corrupt: {} has no place in memory", what);
    if (Result<void> done = checkBuffer(*operand.buffer, what); !done)
      return done;
    using Wide = unsigned __int128;
    if (Wide(operand.rows) * Wide(signals) * operand.size > operand.buffer->bytes())
      return error("corrupt: {} ({} x {}) leaves its {} bytes", what, operand.rows, signals,
                   operand.buffer->bytes());
    if (operand.buffer->offset() % operand.size)
      return error("corrupt: {} is misaligned at offset {}", what, operand.buffer->offset());
    if (operand.written && !mayWrite(*operand.buffer))
      return error("corrupt: {} writes to space {}, which only other programs change", where,
                   fb::EnumNameSpace(operand.buffer->space()));
  }
  return {};
}

} // namespace hybrid::rt::verifier
