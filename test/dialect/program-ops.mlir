// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// A program is a flat list of launches over one arena; defaults of a launch are not printed.
// CHECK-LABEL: hybrid.program @forward
// CHECK-NEXT: hybrid.launch "fused0" for "model.hyb:7" grid 2 buffers [#hybrid.buffer<parameters, 0, 128>, #hybrid.buffer<arena, 0, 256>] {generated}
// CHECK-NEXT: hybrid.launch "rmsnorm" for "model.hyb:8" grid 16 buffers [#hybrid.buffer<arena, 0, 256>, #hybrid.buffer<arena, 0, 0>] {constants = array<i64: 16, 4>, scratch_bytes = 64 : i64}
// CHECK-NEXT: hybrid.library_matmul 16 x 8 x 4 of f32 for "model.hyb:9" buffers [#hybrid.buffer<arena, 0, 256>, #hybrid.buffer<parameters, 128, 128>, #hybrid.buffer<arena, 256, 512>] {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
// CHECK-NEXT: hybrid.library_matmul 16 x 8 x 4 of f32 for "model.hyb:10" buffers [#hybrid.buffer<arena, 0, 256>, #hybrid.buffer<parameters, 128, 128>, #hybrid.buffer<arena, 256, 512>, #hybrid.buffer<arena, 0, 768>] {ld_addend = 12 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
hybrid.program @forward arena 1024 inputs [{buffer = #hybrid.buffer<arena, 0, 256>, name = "x"}] outputs [{buffer = #hybrid.buffer<arena, 256, 512>, name = "y"}] {
  hybrid.launch "fused0" for "model.hyb:7" grid 2 buffers [#hybrid.buffer<parameters, 0, 128>, #hybrid.buffer<arena, 0, 256>] {generated}
  hybrid.launch "rmsnorm" for "model.hyb:8" grid 16 buffers [#hybrid.buffer<arena, 0, 256>, #hybrid.buffer<arena, 0, 0>] {constants = array<i64: 16, 4>, scratch_bytes = 64 : i64}
  hybrid.library_matmul 16 x 8 x 4 of f32 for "model.hyb:9" buffers [#hybrid.buffer<arena, 0, 256>, #hybrid.buffer<parameters, 128, 128>, #hybrid.buffer<arena, 256, 512>] {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
  hybrid.library_matmul 16 x 8 x 4 of f32 for "model.hyb:10" buffers [#hybrid.buffer<arena, 0, 256>, #hybrid.buffer<parameters, 128, 128>, #hybrid.buffer<arena, 256, 512>, #hybrid.buffer<arena, 0, 768>] {ld_addend = 12 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
}

// Every space a buffer can be in.
// CHECK-LABEL: hybrid.program @spaces
// CHECK-NEXT: hybrid.launch "adamw" for "update" grid 1 buffers [#hybrid.buffer<parameters, 0, 8>, #hybrid.buffer<gradients, 0, 8>, #hybrid.buffer<moment1, 0, 8>, #hybrid.buffer<moment2, 0, 8>, #hybrid.buffer<constants, 0, 8>, #hybrid.buffer<arena, 0, 0>]
hybrid.program @spaces arena 0 inputs [] outputs [] {
  hybrid.launch "adamw" for "update" grid 1 buffers [#hybrid.buffer<parameters, 0, 8>, #hybrid.buffer<gradients, 0, 8>, #hybrid.buffer<moment1, 0, 8>, #hybrid.buffer<moment2, 0, 8>, #hybrid.buffer<constants, 0, 8>, #hybrid.buffer<arena, 0, 0>]
}

// Tiles of rows: how each step is cut, and what is in the memory of a tile.
// CHECK-LABEL: hybrid.program @tiles
// CHECK-NEXT: hybrid.tile_loop 64 by 16 for "row_tiles(rmsnorm, matmul)" attributes {sequential, tile_bytes = 256 : i64} {
// CHECK-NEXT: hybrid.launch "rmsnorm" for "rmsnorm" grid 64 buffers [#hybrid.buffer<arena, 0, 1024>, #hybrid.buffer<tile, 0, 256>] {items_per_tile = 16 : i64, row_bytes = array<i64: 0, 16>}
// CHECK-NEXT: hybrid.library_matmul 4 x 4 x 64 of f32 for "matmul" buffers [#hybrid.buffer<tile, 0, 256>, #hybrid.buffer<arena, 0, 1024>, #hybrid.buffer<gradients, 0, 64>] {lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, tile_sum, transpose_a}
hybrid.program @tiles arena 1024 inputs [] outputs [] {
  hybrid.tile_loop 64 by 16 for "row_tiles(rmsnorm, matmul)" attributes {tile_bytes = 256 : i64, sequential} {
    hybrid.launch "rmsnorm" for "rmsnorm" grid 64 buffers [#hybrid.buffer<arena, 0, 1024>, #hybrid.buffer<tile, 0, 256>] {items_per_tile = 16 : i64, row_bytes = array<i64: 0, 16>}
    hybrid.library_matmul 4 x 4 x 64 of f32 for "matmul" buffers [#hybrid.buffer<tile, 0, 256>, #hybrid.buffer<arena, 0, 1024>, #hybrid.buffer<gradients, 0, 64>] {lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, tile_sum, transpose_a}
  }
}

// Attention of a library, and its gradient.
// CHECK-LABEL: hybrid.program @attention
// CHECK-NEXT: hybrid.library_attention heads 2 kv_heads 1 of 8 batch 1 queries 4 keys 4 for "attention" buffers [#hybrid.buffer<arena, 0, 64>, {{.*}}] {causal, scale = 5.000000e-01 : f64, strides = array<i64: 64, 16, 8, 32, 8, 8, 32, 8, 8, 64, 16, 8>}
// CHECK-NEXT: hybrid.library_attention heads 1 kv_heads 1 of 8 batch 1 queries 4 keys 6 for "attention_grad" buffers [{{.*}}] {backward, scale = 1.000000e+00 : f64, strides = array<i64: 32, 8, 8, {{.*}}>}
hybrid.program @attention arena 640 inputs [] outputs [] {
  hybrid.library_attention heads 2 kv_heads 1 of 8 batch 1 queries 4 keys 4 for "attention" buffers [#hybrid.buffer<arena, 0, 64>, #hybrid.buffer<arena, 64, 64>, #hybrid.buffer<arena, 128, 64>, #hybrid.buffer<arena, 192, 64>, #hybrid.buffer<arena, 256, 64>] {causal, scale = 0.5 : f64, strides = array<i64: 64, 16, 8, 32, 8, 8, 32, 8, 8, 64, 16, 8>}
  hybrid.library_attention heads 1 kv_heads 1 of 8 batch 1 queries 4 keys 6 for "attention_grad" buffers [#hybrid.buffer<arena, 0, 64>, #hybrid.buffer<arena, 64, 64>, #hybrid.buffer<arena, 128, 64>, #hybrid.buffer<arena, 192, 64>, #hybrid.buffer<arena, 256, 64>, #hybrid.buffer<arena, 320, 64>, #hybrid.buffer<arena, 384, 64>, #hybrid.buffer<arena, 448, 64>, #hybrid.buffer<arena, 512, 64>, #hybrid.buffer<arena, 576, 64>] {backward, scale = 1.0 : f64, strides = array<i64: 32, 8, 8, 48, 8, 8, 48, 8, 8, 32, 8, 8, 32, 8, 8, 32, 8, 8, 48, 8, 8, 48, 8, 8>}
}
