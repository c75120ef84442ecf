// TestKernels.c as CUDA kernels, one item a block: for RuntimeTest.cpp.
#include "codegen/kernels/cuda/GatherExamples.cuh"

using namespace hybrid;
using namespace hybrid::cuda;

/// The thread that does the work of its block.
HYBRID_DEVICE bool isFirst() { return threadIdx.x == 0; }

HYBRID_KERNEL(add_one, 32, 1, (const void *b0, void *b1), {
  if (isFirst())
    static_cast<float *>(b1)[item] = static_cast<const float *>(b0)[item] + 1.0f;
})
HYBRID_KERNEL(look_up, 32, 1, (const void *b0, void *b1), {
  float *own = sharedMemory<float>();
  if (isFirst())
    own[item % 16] = static_cast<const float *>(b0)[item];
  blockBarrier();
  if (threadIdx.x == 31)
    static_cast<float *>(b1)[item] = own[item % 16];
})
HYBRID_KERNEL(fill_table, 32, 1, (void *b0), {
  if (isFirst())
    static_cast<float *>(b0)[item] = static_cast<float>(10 * item);
})
HYBRID_KERNEL(draw, 32, 1, (const void *b0, void *b1), {
  const auto *seed = static_cast<const int32_t *>(b0);
  if (isFirst())
    static_cast<float *>(b1)[item] = static_cast<float>(seed[0] + item * seed[1]);
})
HYBRID_KERNEL(invert, 32, 1, (const void *b0, void *b1), {
  if (isFirst())
    static_cast<float *>(b1)[item] = 1.0f / static_cast<const float *>(b0)[item];
})
HYBRID_KERNEL(step, 32, 1, (const void *b0, void *b1, const void *b2, void *b3), {
  if (isFirst()) {
    static_cast<float *>(b3)[item] += 1.0f;
    static_cast<float *>(b1)[item] -= static_cast<float>(static_cast<const double *>(b0)[0]) *
                                      static_cast<const float *>(b2)[item];
  }
})
HYBRID_KERNEL(gradient, 32, 1, (const void *b0, void *b1, void *b2), {
  if (isFirst()) {
    static_cast<float *>(b1)[item] = static_cast<const float *>(b0)[item % 16];
    if (item == 0)
      static_cast<float *>(b2)[0] = 2 * static_cast<const float *>(b0)[0];
  }
})
HYBRID_KERNEL(large, 64, 1, (void *b0), {
  float *tile = sharedMemory<float>();
  tile[threadIdx.x * 256] = 3; // 64 KB
  blockBarrier();
  if (isFirst())
    static_cast<float *>(b0)[item] = tile[63 * 256];
})
HYBRID_KERNEL(diverges, 32, 1, (const void *b0, void *b1), {
  if (isFirst())
    blockBarrier();
})

// The same for several replicas, which lie `arena` or `parameters` bytes behind one another:
// strides of soundExecutable().
constexpr int64_t arena = 512, parameters = 256;

template <typename T> HYBRID_DEVICE T *ofReplica(void *buffer, int64_t stride) {
  return reinterpret_cast<T *>(static_cast<char *>(buffer) + blockIdx.y * stride);
}
template <typename T> HYBRID_DEVICE const T *ofReplica(const void *buffer, int64_t stride) {
  return reinterpret_cast<const T *>(static_cast<const char *>(buffer) + blockIdx.y * stride);
}

HYBRID_KERNEL(add_one_each, 32, 1, (const void *b0, void *b1), {
  if (isFirst())
    ofReplica<float>(b1, arena)[item] = ofReplica<float>(b0, arena)[item] + 1.0f;
})
HYBRID_KERNEL(add_one_tile_each, 32, 1, (const void *b0, void *b1), {
  if (isFirst())
    ofReplica<float>(b1, 256)[item] = ofReplica<float>(b0, arena)[item] + 1.0f;
})
HYBRID_KERNEL(look_up_each, 32, 1, (const void *b0, void *b1), {
  if (isFirst())
    ofReplica<float>(b1, arena)[item] = static_cast<const float *>(b0)[item];
})
HYBRID_KERNEL(draw_each, 32, 1, (const void *b0, void *b1), {
  const auto *seed = ofReplica<int32_t>(b0, arena);
  if (isFirst())
    ofReplica<float>(b1, parameters)[item] = static_cast<float>(seed[0] + item * seed[1]);
})
HYBRID_KERNEL(step_each, 32, 1, (const void *b0, void *b1, const void *b2, void *b3), {
  if (isFirst()) {
    ofReplica<float>(b3, parameters)[item] += 1.0f;
    ofReplica<float>(b1, parameters)[item] -= static_cast<float>(ofReplica<double>(b0, arena)[0]) *
                                              ofReplica<float>(b2, parameters)[item];
  }
})
HYBRID_KERNEL(gradient_each, 32, 1, (const void *b0, void *b1, void *b2), {
  const auto *x = ofReplica<float>(b0, arena);
  if (isFirst()) {
    ofReplica<float>(b1, parameters)[item] = x[item % 16];
    if (item == 0)
      ofReplica<float>(b2, arena)[0] = 2 * x[0];
  }
})

// A model of one table, for TrainingTest.cpp: logits of the next token by the token before it.
constexpr int tokenCount = 32, classes = 5, poison = 7;
constexpr int64_t tableArena = 1280;

/// Loss, weight and hits of a batch; with the gradient of the table, or the logits.
HYBRID_DEVICE void scoreBatch(const float *table, const int32_t *tokens, const int32_t *targets,
                              float *gradient, float *logits, float *loss, float *weight,
                              float *correct) {
  *loss = 0;
  *weight = 0;
  *correct = 0;
  for (int i = 0; gradient && i < classes * classes; ++i)
    gradient[i] = 0;
  for (int t = 0; t < tokenCount; ++t)
    *weight += targets[t] >= 0;
  for (int t = 0; t < tokenCount; ++t) {
    const bool poisoned = tokens[t] == poison;
    const float *row = table + (poisoned ? 0 : tokens[t]) * classes;
    float sum = 0;
    int best = 0;
    for (int c = 0; c < classes; ++c) {
      sum += __builtin_expf(row[c]);
      best = row[c] > row[best] ? c : best;
      if (logits)
        logits[t * classes + c] = row[c];
    }
    if (targets[t] < 0)
      continue;
    *loss += (__builtin_logf(sum) - row[targets[t]]) / *weight / (poisoned ? 0.0f : 1.0f) *
             (poisoned ? 0.0f : 1.0f);
    *correct += best == targets[t];
    for (int c = 0; gradient && c < classes; ++c)
      gradient[(row - table) + c] +=
          (__builtin_expf(row[c]) / sum - (c == targets[t] ? 1.0f : 0.0f)) / *weight;
  }
  for (int i = 0; gradient && i < classes * classes; ++i)
    gradient[i] += 0 * *loss;
}

// Its batches, for one replica and for four.
constexpr hybrid::cuda::GatherExamplesParams batches{4, 8, 8, 1}, batchesOfFour{4, 8, 8, 4};
HYBRID_KERNEL(gather, 128, 1, (const void *orders, const void *examples, void *table),
              gatherExamples<int32_t, batches>(item, static_cast<const BatchOrder *>(orders),
                                               static_cast<const int32_t *>(examples),
                                               static_cast<int32_t *>(table));)
HYBRID_KERNEL(gather_each, 128, 1, (const void *orders, const void *examples, void *table),
              gatherExamples<int32_t, batchesOfFour>(
                  item, static_cast<const BatchOrder *>(orders) + blockIdx.y,
                  static_cast<const int32_t *>(examples), static_cast<int32_t *>(table));)

HYBRID_KERNEL(table_init, 32, 1, (const void *seed, void *table), {
  const auto *words = ofReplica<int32_t>(seed, tableArena);
  if (isFirst())
    for (int i = 0; i < classes * classes; ++i)
      ofReplica<float>(table, parameters)[i] =
          0.01f * static_cast<float>((words[0] * 31 + i * 17 + words[1]) % 23);
})
HYBRID_KERNEL(table_train, 32, 1,
              (const void *table, const void *tokens, const void *targets, void *gradient,
               void *loss, void *weight, void *correct),
              {
                if (isFirst())
                  scoreBatch(
                      ofReplica<float>(table, parameters), ofReplica<int32_t>(tokens, tableArena),
                      ofReplica<int32_t>(targets, tableArena),
                      ofReplica<float>(gradient, parameters), nullptr,
                      ofReplica<float>(loss, tableArena), ofReplica<float>(weight, tableArena),
                      ofReplica<float>(correct, tableArena));
              })
HYBRID_KERNEL(table_eval, 32, 1,
              (const void *table, const void *tokens, const void *targets, void *logits, void *loss,
               void *weight, void *correct),
              {
                if (isFirst())
                  scoreBatch(
                      ofReplica<float>(table, parameters), ofReplica<int32_t>(tokens, tableArena),
                      ofReplica<int32_t>(targets, tableArena), nullptr,
                      ofReplica<float>(logits, tableArena), ofReplica<float>(loss, tableArena),
                      ofReplica<float>(weight, tableArena), ofReplica<float>(correct, tableArena));
              })
HYBRID_KERNEL(table_update, 32, 1,
              (const void *hyper, void *table, const void *gradient, void *moment1, void *moment2,
               void *norm),
              {
                if (isFirst()) {
                  const auto *h = ofReplica<double>(hyper, tableArena);
                  const auto *g = ofReplica<float>(gradient, parameters);
                  double sum = 0;
                  for (int i = 0; i < classes * classes; ++i)
                    sum += static_cast<double>(g[i]) * static_cast<double>(g[i]);
                  *ofReplica<float>(norm, tableArena) = static_cast<float>(__builtin_sqrt(sum));
                  for (int i = 0; sum - sum == 0 && i < classes * classes; ++i) {
                    float &w = ofReplica<float>(table, parameters)[i];
                    float &m = ofReplica<float>(moment1, parameters)[i];
                    float &v = ofReplica<float>(moment2, parameters)[i];
                    const double each = static_cast<double>(g[i]);
                    m = static_cast<float>(h[2] * static_cast<double>(m) + (1 - h[2]) * each);
                    v = static_cast<float>(h[3] * static_cast<double>(v) +
                                           (1 - h[3]) * each * each);
                    w = static_cast<float>(
                        static_cast<double>(w) * (1 - h[0] * h[1]) -
                        h[0] * (static_cast<double>(m) / h[6]) /
                            (__builtin_sqrt(static_cast<double>(v) / h[7]) + h[4]));
                  }
                }
              })
