// RUN: hybrid-opt %s --hybrid-ensemble=replicas=3 --split-input-file | FileCheck %s
// RUN: hybrid-opt %s --hybrid-ensemble=replicas=1 --split-input-file | FileCheck %s --check-prefix=ONE

// The programs stay those of one replica; the module says how many there are and how far apart their memory lies: the largest arena, the
// parameters and the largest tile, rounded up to 256 bytes.
// CHECK: module attributes {schedule.parameter_bytes = 320 : i64, schedule.replicas = #schedule.replicas<3, arena 1024, parameters 512, tile 256>}
// CHECK-NEXT: schedule.program @forward arena 1000 inputs [] outputs [] {
// CHECK-NEXT: schedule.launch "fused0" for "fused" grid 2 buffers [#schedule.buffer<parameters, 0, 128>, #schedule.buffer<arena, 128, 128>] {generated}
// CHECK: schedule.program @train arena 256

// One replica is what there was.
// ONE-NOT: schedule.replicas
module attributes {schedule.parameter_bytes = 320 : i64} {
  schedule.program @forward arena 1000 inputs [] outputs [] {
    schedule.launch "fused0" for "fused" grid 2 buffers [#schedule.buffer<parameters, 0, 128>, #schedule.buffer<arena, 128, 128>] {generated}
  }
  schedule.program @train arena 256 inputs [] outputs [] {
    schedule.tile_loop 4 by 2 for "row_tiles(add)" attributes {tile_bytes = 64 : i64} {
      schedule.launch "fused0" for "fused" grid 4 buffers [#schedule.buffer<arena, 0, 256>, #schedule.buffer<tile, 0, 64>] {generated, items_per_tile = 2 : i64, row_bytes = array<i64: 0, 32>}
    }
  }
}

// -----

// A model without parameters.
// CHECK: module attributes {schedule.replicas = #schedule.replicas<3, arena 0, parameters 0, tile 0>}
module {
  schedule.program @forward arena 0 inputs [] outputs [] {
  }
}
