// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// A program is a flat list of launches over one arena; defaults of a launch are not printed.
// CHECK-LABEL: schedule.program @forward
// CHECK-NEXT: schedule.launch "fused0" for "model.hyb:7" grid 2 buffers [#schedule.buffer<parameters, 0, 128>, #schedule.buffer<arena, 0, 256>] {generated}
// CHECK-NEXT: schedule.launch "rmsnorm" for "model.hyb:8" grid 16 buffers [#schedule.buffer<arena, 0, 256>, #schedule.buffer<arena, 0, 0>] {constants = array<i64: 16, 4>, scratch_bytes = 64 : i64}
// CHECK-NEXT: schedule.library_matmul 16 x 8 x 4 of f32 for "model.hyb:9" buffers [#schedule.buffer<arena, 0, 256>, #schedule.buffer<parameters, 128, 128>, #schedule.buffer<arena, 256, 512>] {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
// CHECK-NEXT: schedule.library_matmul 16 x 8 x 4 of f32 for "model.hyb:10" buffers [#schedule.buffer<arena, 0, 256>, #schedule.buffer<parameters, 128, 128>, #schedule.buffer<arena, 256, 512>, #schedule.buffer<arena, 0, 768>] {ld_addend = 12 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
schedule.program @forward arena 1024 inputs [{buffer = #schedule.buffer<arena, 0, 256>, name = "x"}] outputs [{buffer = #schedule.buffer<arena, 256, 512>, name = "y"}] {
  schedule.launch "fused0" for "model.hyb:7" grid 2 buffers [#schedule.buffer<parameters, 0, 128>, #schedule.buffer<arena, 0, 256>] {generated}
  schedule.launch "rmsnorm" for "model.hyb:8" grid 16 buffers [#schedule.buffer<arena, 0, 256>, #schedule.buffer<arena, 0, 0>] {constants = array<i64: 16, 4>, scratch_bytes = 64 : i64}
  schedule.library_matmul 16 x 8 x 4 of f32 for "model.hyb:9" buffers [#schedule.buffer<arena, 0, 256>, #schedule.buffer<parameters, 128, 128>, #schedule.buffer<arena, 256, 512>] {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
  schedule.library_matmul 16 x 8 x 4 of f32 for "model.hyb:10" buffers [#schedule.buffer<arena, 0, 256>, #schedule.buffer<parameters, 128, 128>, #schedule.buffer<arena, 256, 512>, #schedule.buffer<arena, 0, 768>] {ld_addend = 12 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
}

// Every space a buffer can be in.
// CHECK-LABEL: schedule.program @spaces
// CHECK-NEXT: schedule.launch "adamw" for "update" grid 1 buffers [#schedule.buffer<parameters, 0, 8>, #schedule.buffer<gradients, 0, 8>, #schedule.buffer<moment1, 0, 8>, #schedule.buffer<moment2, 0, 8>, #schedule.buffer<constants, 0, 8>, #schedule.buffer<arena, 0, 0>]
schedule.program @spaces arena 0 inputs [] outputs [] {
  schedule.launch "adamw" for "update" grid 1 buffers [#schedule.buffer<parameters, 0, 8>, #schedule.buffer<gradients, 0, 8>, #schedule.buffer<moment1, 0, 8>, #schedule.buffer<moment2, 0, 8>, #schedule.buffer<constants, 0, 8>, #schedule.buffer<arena, 0, 0>]
}

// Tiles of rows: how each step is cut, and what is in the memory of a tile.
// CHECK-LABEL: schedule.program @tiles
// CHECK-NEXT: schedule.tile_loop 64 by 16 for "row_tiles(rmsnorm, matmul)" attributes {sequential, tile_bytes = 256 : i64} {
// CHECK-NEXT: schedule.launch "rmsnorm" for "rmsnorm" grid 64 buffers [#schedule.buffer<arena, 0, 1024>, #schedule.buffer<tile, 0, 256>] {items_per_tile = 16 : i64, row_bytes = array<i64: 0, 16>}
// CHECK-NEXT: schedule.library_matmul 4 x 4 x 64 of f32 for "matmul" buffers [#schedule.buffer<tile, 0, 256>, #schedule.buffer<arena, 0, 1024>, #schedule.buffer<gradients, 0, 64>] {lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, tile_sum, transpose_a}
schedule.program @tiles arena 1024 inputs [] outputs [] {
  schedule.tile_loop 64 by 16 for "row_tiles(rmsnorm, matmul)" attributes {tile_bytes = 256 : i64, sequential} {
    schedule.launch "rmsnorm" for "rmsnorm" grid 64 buffers [#schedule.buffer<arena, 0, 1024>, #schedule.buffer<tile, 0, 256>] {items_per_tile = 16 : i64, row_bytes = array<i64: 0, 16>}
    schedule.library_matmul 4 x 4 x 64 of f32 for "matmul" buffers [#schedule.buffer<tile, 0, 256>, #schedule.buffer<arena, 0, 1024>, #schedule.buffer<gradients, 0, 64>] {lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, tile_sum, transpose_a}
  }
}

// Attention of a library, and its gradient.
// CHECK-LABEL: schedule.program @attention
// CHECK-NEXT: schedule.library_attention heads 2 kv_heads 1 of 8 batch 1 queries 4 keys 4 for "attention" buffers [#schedule.buffer<arena, 0, 64>, {{.*}}] {causal, scale = 5.000000e-01 : f64, strides = array<i64: 64, 16, 8, 32, 8, 8, 32, 8, 8, 64, 16, 8>}
// CHECK-NEXT: schedule.library_attention heads 1 kv_heads 1 of 8 batch 1 queries 4 keys 6 for "attention_grad" buffers [{{.*}}] {backward, scale = 1.000000e+00 : f64, strides = array<i64: 32, 8, 8, {{.*}}>}
schedule.program @attention arena 640 inputs [] outputs [] {
  schedule.library_attention heads 2 kv_heads 1 of 8 batch 1 queries 4 keys 4 for "attention" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>, #schedule.buffer<arena, 128, 64>, #schedule.buffer<arena, 192, 64>, #schedule.buffer<arena, 256, 64>] {causal, scale = 0.5 : f64, strides = array<i64: 64, 16, 8, 32, 8, 8, 32, 8, 8, 64, 16, 8>}
  schedule.library_attention heads 1 kv_heads 1 of 8 batch 1 queries 4 keys 6 for "attention_grad" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>, #schedule.buffer<arena, 128, 64>, #schedule.buffer<arena, 192, 64>, #schedule.buffer<arena, 256, 64>, #schedule.buffer<arena, 320, 64>, #schedule.buffer<arena, 384, 64>, #schedule.buffer<arena, 448, 64>, #schedule.buffer<arena, 512, 64>, #schedule.buffer<arena, 576, 64>] {backward, scale = 1.0 : f64, strides = array<i64: 32, 8, 8, 48, 8, 8, 48, 8, 8, 32, 8, 8, 32, 8, 8, 32, 8, 8, 48, 8, 8, 48, 8, 8>}
}

// Transforms of a library, and back.
// CHECK-LABEL: schedule.program @transforms
// CHECK-NEXT: schedule.library_fft 15 points x 2 of f32 for "rfft" buffers [#schedule.buffer<arena, 0, 120>, #schedule.buffer<arena, 128, 128>]
// CHECK-NEXT: schedule.library_fft 15 points x 2 of f32 for "irfft" buffers [#schedule.buffer<arena, 0, 120>, #schedule.buffer<arena, 128, 128>] {inverse}
schedule.program @transforms arena 256 inputs [] outputs [] {
  schedule.library_fft 15 points x 2 of f32 for "rfft" buffers [#schedule.buffer<arena, 0, 120>, #schedule.buffer<arena, 128, 128>]
  schedule.library_fft 15 points x 2 of f32 for "irfft" buffers [#schedule.buffer<arena, 0, 120>, #schedule.buffer<arena, 128, 128>] {inverse}
}

// Gradients of all ranks, and what waits for them.
// CHECK-LABEL: schedule.program @ranks
// CHECK-NEXT: schedule.all_reduce f32 as bf16 for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>, #schedule.buffer<arena, 0, 4>] {mean}
// CHECK-NEXT: schedule.all_reduce f64 as f64 for "data_parallel" buffers [#schedule.buffer<arena, 8, 8>]
// CHECK-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>, #schedule.buffer<arena, 0, 4>] {scaled}
// CHECK-NEXT: schedule.await for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>]
schedule.program @ranks arena 64 inputs [] outputs [] {
  schedule.all_reduce f32 as bf16 for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>, #schedule.buffer<arena, 0, 4>] {mean}
  schedule.all_reduce f64 as f64 for "data_parallel" buffers [#schedule.buffer<arena, 8, 8>]
  schedule.all_reduce f32 as f32 for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>, #schedule.buffer<arena, 0, 4>] {scaled}
  schedule.await for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>]
}

// What ranks have shares of.
// CHECK-LABEL: schedule.program @shares
// CHECK-NEXT: schedule.all_gather for "shard_optimizer" buffers [#schedule.buffer<parameters, 0, 4096>]
// CHECK-NEXT: schedule.await
// CHECK-NEXT: schedule.release for "shard_optimizer" buffers [#schedule.buffer<parameters, 0, 4096>]
// CHECK-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>] {release, to_owners}
// CHECK-NEXT: schedule.launch "adamw" {{.*}} {item_spans = array<i64: 0, 0, 2048>}
schedule.program @shares arena 64 inputs [] outputs [] {
  schedule.all_gather for "shard_optimizer" buffers [#schedule.buffer<parameters, 0, 4096>]
  schedule.await for "shard_optimizer" buffers [#schedule.buffer<parameters, 0, 4096>]
  schedule.release for "shard_optimizer" buffers [#schedule.buffer<parameters, 0, 4096>]
  schedule.all_reduce f32 as f32 for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>] {to_owners, release}
  schedule.launch "adamw" for "adamw" grid 2 buffers [#schedule.buffer<parameters, 0, 4096>] {item_spans = array<i64: 0, 0, 2048>}
}

// What ranks with parts of a sequence give each other.
// CHECK-LABEL: schedule.program @parts
// CHECK-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" buffers [{{.*}}] {mean, weighted}
// CHECK-NEXT: schedule.exchange all of 4 for "all_to_all" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>]
// CHECK-NEXT: schedule.exchange from_previous of 4 for "receive_state" buffers [#schedule.buffer<arena, 0, 64>]
// CHECK-NEXT: schedule.exchange to_next of 4 for "send_state" buffers [#schedule.buffer<arena, 0, 64>]
// CHECK-NEXT: schedule.exchange place of 4 for "rank_place" buffers [#schedule.buffer<arena, 0, 4>]
schedule.program @parts arena 128 inputs [] outputs [] {
  schedule.all_reduce f32 as f32 for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>, #schedule.buffer<arena, 0, 4>] {mean, weighted}
  schedule.exchange all of 4 for "all_to_all" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>]
  schedule.exchange from_previous of 4 for "receive_state" buffers [#schedule.buffer<arena, 0, 64>]
  schedule.exchange to_next of 4 for "send_state" buffers [#schedule.buffer<arena, 0, 64>]
  schedule.exchange place of 4 for "rank_place" buffers [#schedule.buffer<arena, 0, 4>]
}
