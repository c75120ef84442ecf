// RUN: hybrid-opt %s --split-input-file --schedule-plan-tiles | FileCheck %s --check-prefix=TILES --enable-var-scope
// RUN: hybrid-opt %s --split-input-file --schedule-plan-tiles --schedule-plan-arena | FileCheck %s --check-prefix=ARENA --enable-var-scope

// Of three values one after another two live at a time, in a tile as in the arena; the arena is planned last, and values become places.
// TILES-LABEL: schedule.program @chain
// TILES: schedule.tile_loop 64 by 16 for "row_tiles" attributes {tile_bytes = 1024 : i64} {
// TILES-DAG: schedule.buffer tile at 0 : memref<64x8xf32>
// TILES-DAG: schedule.buffer tile at 512 : memref<64x8xf32>
// TILES-DAG: schedule.buffer tile at 0 : memref<64x8xf32>

// ARENA-LABEL: schedule.program @chain arena 4096
// ARENA-SAME: inputs [{buffer = #schedule.buffer<arena, [[X:[0-9]+]], 2048>, name = "x", type = tensor<64x8xf32>}]
// ARENA-SAME: outputs [{buffer = #schedule.buffer<arena, [[Y:[0-9]+]], 2048>, name = "y", type = tensor<64x8xf32>}]
// ARENA-SAME: schedule.largest
// ARENA-NOT: schedule.buffer arena
// ARENA: schedule.tile_loop
// ARENA-NEXT: schedule.launch "a" for "a" grid 64 buffers [#schedule.buffer<arena, [[X]], 2048>, #schedule.buffer<tile, 0, 512>] {items_per_tile = 16 : i64, row_bytes = array<i64: 0, 32>, writes = array<i64: 1>}
// ARENA-NEXT: schedule.launch "b" for "b" grid 64 buffers [#schedule.buffer<tile, 0, 512>, #schedule.buffer<tile, 512, 512>]
// ARENA-NEXT: schedule.launch "c" for "c" grid 64 buffers [#schedule.buffer<tile, 512, 512>, #schedule.buffer<tile, 0, 512>]
// ARENA-NEXT: schedule.launch "d" for "d" grid 64 buffers [#schedule.buffer<tile, 0, 512>, #schedule.buffer<arena, [[Y]], 2048>]
schedule.program @chain {
  %x = schedule.buffer arena "x" : memref<64x8xf32>
  %y = schedule.buffer arena : memref<64x8xf32>
  schedule.tile_loop 64 by 16 for "row_tiles" {
    %a = schedule.buffer tile : memref<64x8xf32>
    %b = schedule.buffer tile : memref<64x8xf32>
    %c = schedule.buffer tile : memref<64x8xf32>
    schedule.launch "a" for "a" grid 64 (%x, %a : memref<64x8xf32>, memref<64x8xf32>) {items_per_tile = 16 : i64, writes = array<i64: 1>}
    schedule.launch "b" for "b" grid 64 (%a, %b : memref<64x8xf32>, memref<64x8xf32>) {items_per_tile = 16 : i64, writes = array<i64: 1>}
    schedule.launch "c" for "c" grid 64 (%b, %c : memref<64x8xf32>, memref<64x8xf32>) {items_per_tile = 16 : i64, writes = array<i64: 1>}
    schedule.launch "d" for "d" grid 64 (%c, %y : memref<64x8xf32>, memref<64x8xf32>) {items_per_tile = 16 : i64, writes = array<i64: 1>}
  }
  schedule.output "y" %y : memref<64x8xf32>
}

// -----

// Behind the launch that writes the last output, and before one reads the cotangent, the program can pause. What it writes later lies nowhere else before.
// ARENA-LABEL: schedule.program @vjp arena 640
// ARENA: schedule.pause = 1 : i64
schedule.program @vjp {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %dy = schedule.buffer arena "cotangent.y" : memref<4x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  %t = schedule.buffer arena : memref<4x8xf32>
  %dx = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "a" for "a" grid 4 (%x, %y : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.launch "b" for "b" grid 4 (%x, %t : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.launch "c" for "c" grid 4 (%dy, %t, %dx : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 2>}
  schedule.output "y" %y : memref<4x8xf32>
  schedule.output "grad.x" %dx : memref<4x8xf32>
}

// -----

// An input keeps its place to the end, a part of a concatenation has its offset there, and an absent buffer is empty.
// ARENA-LABEL: schedule.program @parts arena 640
// ARENA: schedule.launch "a" for "a" grid 4 buffers [#schedule.buffer<arena, [[X:[0-9]+]], 128>, #schedule.buffer<arena, 0, 0>, #schedule.buffer<arena, 32, 224>]
// ARENA-NEXT: schedule.launch "b" for "b" grid 4 buffers [#schedule.buffer<arena, 0, 256>, #schedule.buffer<parameters, 64, 128>, #schedule.buffer<arena, {{[0-9]+}}, 256>]
schedule.program @parts {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %w = schedule.buffer parameters "w" at 64 : memref<4x8xf32>
  %whole = schedule.buffer arena : memref<4x16xf32>
  %part = schedule.view %whole : memref<4x16xf32> as memref<4x8xf32, strided<[16, 1], offset: 8>>
  %y = schedule.buffer arena : memref<4x16xf32>
  %none = schedule.absent : memref<0xf32>
  schedule.launch "a" for "a" grid 4 (%x, %none, %part : memref<4x8xf32>, memref<0xf32>, memref<4x8xf32, strided<[16, 1], offset: 8>>) {writes = array<i64: 2>}
  schedule.launch "b" for "b" grid 4 (%whole, %w, %y : memref<4x16xf32>, memref<4x8xf32>, memref<4x16xf32>) {writes = array<i64: 2>}
  schedule.output "y" %y : memref<4x16xf32>
}

// -----

// Two chains of two steps: in order they share memory. On branches they do not, until one waits for the other.
// ARENA-LABEL: schedule.program @inOrder arena 1024
// ARENA: schedule.launch "a" for "a" grid 4 buffers [#schedule.buffer<arena, [[X:[0-9]+]], 128>, #schedule.buffer<arena, [[A:[0-9]+]], 128>] {writes = array<i64: 1>}
// ARENA: schedule.launch "c" for "c" grid 4 buffers [#schedule.buffer<arena, [[X]], 128>, #schedule.buffer<arena, [[A]], 128>] {writes = array<i64: 1>}
schedule.program @inOrder {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %a = schedule.buffer arena : memref<4x8xf32>
  %b = schedule.buffer arena : memref<4x48xf32>
  %c = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "a" for "a" grid 4 (%x, %a : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  %one = schedule.view %b : memref<4x48xf32> as memref<4x8xf32>
  schedule.launch "b" for "b" grid 4 (%a, %one : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.launch "c" for "c" grid 4 (%x, %c : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  %two = schedule.view %b : memref<4x48xf32> as memref<4x8xf32, strided<[8, 1], offset: 96>>
  schedule.launch "d" for "d" grid 4 (%c, %two : memref<4x8xf32>, memref<4x8xf32, strided<[8, 1], offset: 96>>) {writes = array<i64: 1>}
  schedule.output "y" %b : memref<4x48xf32>
}

// -----

// ARENA-LABEL: schedule.program @onBranches arena 1152
// ARENA: schedule.launch "a" for "a" grid 4 buffers [#schedule.buffer<arena, [[X:[0-9]+]], 128>, #schedule.buffer<arena, [[A:[0-9]+]], 128>] {writes = array<i64: 1>}
// ARENA: schedule.launch "c" for "c" grid 4 buffers [#schedule.buffer<arena, [[X]], 128>, #schedule.buffer<arena, [[C:[0-9]+]], 128>] {schedule.branch = 1 : i64, writes = array<i64: 1>}
// ARENA: schedule.launch "e" for "e" grid 4 buffers [#schedule.buffer<arena, [[X]], 128>, #schedule.buffer<arena, [[A]], 128>] {schedule.after = array<i64: 3>, writes = array<i64: 1>}
schedule.program @onBranches {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %a = schedule.buffer arena : memref<4x8xf32>
  %b = schedule.buffer arena : memref<4x48xf32>
  %c = schedule.buffer arena : memref<4x8xf32>
  %e = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "a" for "a" grid 4 (%x, %a : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  %one = schedule.view %b : memref<4x48xf32> as memref<4x8xf32>
  schedule.launch "b" for "b" grid 4 (%a, %one : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.launch "c" for "c" grid 4 (%x, %c : memref<4x8xf32>, memref<4x8xf32>) {schedule.branch = 1 : i64, writes = array<i64: 1>}
  %two = schedule.view %b : memref<4x48xf32> as memref<4x8xf32, strided<[8, 1], offset: 96>>
  schedule.launch "d" for "d" grid 4 (%c, %two : memref<4x8xf32>, memref<4x8xf32, strided<[8, 1], offset: 96>>) {schedule.branch = 1 : i64, writes = array<i64: 1>}
  schedule.launch "e" for "e" grid 4 (%x, %e : memref<4x8xf32>, memref<4x8xf32>) {schedule.after = array<i64: 3>, writes = array<i64: 1>}
  schedule.output "y" %b : memref<4x48xf32>
}
