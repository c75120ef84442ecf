// Kernels whose times are published, as people write them: known.py compares what the model says of
// them. Tensors in bf16 are words of two numbers.
using Word = unsigned int;

__device__ float low(Word pair) { return __uint_as_float(pair << 16); }
__device__ float high(Word pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ Word pack(float low, float high) {
  Word pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ float exponential(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
}
template <typename Combine> __device__ float overWarp(float value, Combine combine) {
  for (int mask = 16; mask; mask /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, mask));
  return value;
}
/// Over a block of `warps` warps; every thread has the result.
template <int warps, typename Combine>
__device__ float overBlock(float value, Combine combine, float *room) {
  value = overWarp(value, combine);
  if constexpr (warps == 1)
    return value;
  if (threadIdx.x % 32 == 0)
    room[threadIdx.x / 32] = value;
  __syncthreads();
  float all = room[0];
  for (int i = 1; i < warps; ++i)
    all = combine(all, room[i]);
  __syncthreads();
  return all;
}
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Most {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

extern "C" __global__ void __launch_bounds__(256) copy(const uint4 *from, uint4 *to) {
  const unsigned first = blockIdx.x * 1024 + threadIdx.x;
  uint4 held[4];
  for (int i = 0; i < 4; ++i)
    held[i] = from[first + i * 256];
  for (int i = 0; i < 4; ++i)
    to[first + i * 256] = held[i];
}

/// silu(a) * b of pairs.
extern "C" __global__ void __launch_bounds__(256)
    swiglu(const uint4 *a, const uint4 *b, uint4 *to) {
  const unsigned first = blockIdx.x * 512 + threadIdx.x;
  uint4 gates[2], values[2];
  for (int i = 0; i < 2; ++i)
    gates[i] = a[first + i * 256], values[i] = b[first + i * 256];
  auto gated = [](float g, float v) { return v * g * __frcp_rn(1 + exponential(-g)); };
  auto both = [&](Word g, Word v) { return pack(gated(low(g), low(v)), gated(high(g), high(v))); };
  for (int i = 0; i < 2; ++i)
    to[first + i * 256] = {both(gates[i].x, values[i].x), both(gates[i].y, values[i].y),
                           both(gates[i].z, values[i].z), both(gates[i].w, values[i].w)};
}

/// A row a block: `vectors` of 8 numbers a thread.
template <int warps, int vectors>
__device__ void rmsnorm(const uint4 *x, const uint4 *weight, uint4 *y, float *room) {
  constexpr int row = warps * 32 * vectors;
  uint4 held[vectors];
  float sum = 0;
  auto add = [&](Word pair) { sum += low(pair) * low(pair) + high(pair) * high(pair); };
  for (int i = 0; i < vectors; ++i) {
    held[i] = x[static_cast<long long>(blockIdx.x) * row + i * warps * 32 + threadIdx.x];
    add(held[i].x), add(held[i].y), add(held[i].z), add(held[i].w);
  }
  const float scale = rsqrtf(overBlock<warps>(sum, Sum(), room) * (1.f / (row * 8)) + 1e-6f);
  auto scaled = [&](Word pair, Word by) {
    return pack(low(pair) * scale * low(by), high(pair) * scale * high(by));
  };
  for (int i = 0; i < vectors; ++i) {
    const uint4 by = weight[i * warps * 32 + threadIdx.x];
    y[static_cast<long long>(blockIdx.x) * row + i * warps * 32 + threadIdx.x] = {
        scaled(held[i].x, by.x), scaled(held[i].y, by.y), scaled(held[i].z, by.z),
        scaled(held[i].w, by.w)};
  }
}
extern "C" __global__ void __launch_bounds__(256)
    rmsnorm4096(const uint4 *x, const uint4 *weight, uint4 *y) {
  __shared__ float room[8];
  rmsnorm<8, 2>(x, weight, y, room);
}
/// 16384 numbers a row.
extern "C" __global__ void __launch_bounds__(512)
    rmsnorm16384(const uint4 *x, const uint4 *weight, uint4 *y) {
  __shared__ float room[16];
  rmsnorm<16, 4>(x, weight, y, room);
}
/// Rows of 128 numbers: 16 lanes have one, and a block of 128 threads 8.
extern "C" __global__ void __launch_bounds__(128)
    rmsnorm128(const uint4 *x, const uint4 *weight, uint4 *y) {
  const unsigned at = blockIdx.x * 128 + threadIdx.x;
  const uint4 held = x[at], by = weight[threadIdx.x % 16];
  float sum = 0;
  auto add = [&](Word pair) { sum += low(pair) * low(pair) + high(pair) * high(pair); };
  add(held.x), add(held.y), add(held.z), add(held.w);
  for (int mask = 8; mask; mask /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  const float scale = rsqrtf(sum * (1.f / 128) + 1e-6f);
  auto scaled = [&](Word pair, Word of) {
    return pack(low(pair) * scale * low(of), high(pair) * scale * high(of));
  };
  y[at] = {scaled(held.x, by.x), scaled(held.y, by.y), scaled(held.z, by.z), scaled(held.w, by.w)};
}

/// Rows of 8192 numbers in bf16, a block of 256 threads each.
extern "C" __global__ void __launch_bounds__(256) softmax8192(const uint4 *x, uint4 *y) {
  __shared__ float room[8];
  uint4 held[4];
  float most = -3e38f;
  auto see = [&](Word pair) { most = Most()(most, Most()(low(pair), high(pair))); };
  for (int i = 0; i < 4; ++i) {
    held[i] = x[static_cast<long long>(blockIdx.x) * 1024 + i * 256 + threadIdx.x];
    see(held[i].x), see(held[i].y), see(held[i].z), see(held[i].w);
  }
  most = overBlock<8>(most, Most(), room);
  float powers[4][8], sum = 0;
  for (int i = 0; i < 4; ++i) {
    const Word pairs[] = {held[i].x, held[i].y, held[i].z, held[i].w};
    for (int j = 0; j < 4; ++j) {
      sum += powers[i][2 * j] = exponential(low(pairs[j]) - most);
      sum += powers[i][2 * j + 1] = exponential(high(pairs[j]) - most);
    }
  }
  const float scale = __frcp_rn(overBlock<8>(sum, Sum(), room));
  for (int i = 0; i < 4; ++i) {
    auto scaled = [&](int j) {
      return pack(powers[i][2 * j] * scale, powers[i][2 * j + 1] * scale);
    };
    y[static_cast<long long>(blockIdx.x) * 1024 + i * 256 + threadIdx.x] = {scaled(0), scaled(1),
                                                                            scaled(2), scaled(3)};
  }
}

/// C = A B with A stored by columns, m = 3456, n = k = 4096: tiles of 128 x 128 x 8 in two buffers,
/// 8 x 8 numbers a thread.
extern "C" __global__ void __launch_bounds__(256)
    sgemm(const float4 *a, const float4 *b, float4 *c) {
  constexpr int m = 3456, n = 4096, k = 4096, columns = n / 128;
  __shared__ float4 tiles[2][2][8][32];
  const int row = blockIdx.x / columns * 32, column = blockIdx.x % columns * 32;
  const int depth = threadIdx.x / 32, lane = threadIdx.x % 32, x = threadIdx.x % 16,
            y = threadIdx.x / 16;
  float sums[8][8] = {};
  float4 nextA = a[depth * (m / 4) + row + lane], nextB = b[depth * (n / 4) + column + lane];
  for (int first = 0; first < k; first += 8) {
    const int which = first / 8 % 2;
    tiles[which][0][depth][lane] = nextA, tiles[which][1][depth][lane] = nextB;
    __syncthreads();
    if (first + 8 < k) {
      nextA = a[(first + 8 + depth) * (m / 4) + row + lane];
      nextB = b[(first + 8 + depth) * (n / 4) + column + lane];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float4 a0 = tiles[which][0][i][y], a1 = tiles[which][0][i][16 + y],
                   b0 = tiles[which][1][i][x], b1 = tiles[which][1][i][16 + x];
      const float left[] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w},
                  right[] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int p = 0; p < 8; ++p)
#pragma unroll
        for (int q = 0; q < 8; ++q)
          sums[p][q] += left[p] * right[q];
    }
  }
#pragma unroll
  for (int p = 0; p < 8; ++p) {
    const int at = (row * 4 + (p / 4) * 64 + y * 4 + p % 4) * (n / 4) + column;
    c[at + x] = {sums[p][0], sums[p][1], sums[p][2], sums[p][3]};
    c[at + 16 + x] = {sums[p][4], sums[p][5], sums[p][6], sums[p][7]};
  }
}

/// 1024 rounds of 8 independent products of 16 x 8 x 16 a warp.
extern "C" __global__ void __launch_bounds__(256) products(float *to) {
  float sums[8][4] = {};
  const Word ones = 0x3f803f80u;
  for (int i = 0; i < 1024; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %4, "
                   "%4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                   : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3])
                   : "r"(ones));
  float all = 0;
  for (int j = 0; j < 8; ++j)
    all += sums[j][0] + sums[j][1] + sums[j][2] + sums[j][3];
  to[blockIdx.x * 256 + threadIdx.x] = all;
}
