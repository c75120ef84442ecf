// RUN: hybrid-opt %s --schedule-join-gradients | FileCheck %s --enable-var-scope
// RUN: hybridc %S/../../../models/mad/gated-linear-attention-swiglu.hyb --batch 2 --length 16 --target=cuda:sm_90a --precision=bf16 --emit=join-gradients -o - 2>&1 | FileCheck %s --check-prefix=MODEL

// Three columns of one buffer, in any order, with gradients in the order of the columns.
// CHECK-LABEL: schedule.program @three
// CHECK: %[[X:.+]] = schedule.buffer arena "x"
// CHECK: %[[G:.+]] = schedule.buffer arena "g" : memref<2x6x24xbf16>
// CHECK: %[[COLUMNS:.+]] = schedule.view %[[G]] : memref<2x6x24xbf16> as memref<12x20xbf16, strided<[24, 1], offset: 4>>
// CHECK: %[[ALL:.+]] = schedule.buffer gradients at 64 : memref<20x8xf32>
// CHECK-NOT: schedule.buffer gradients
// CHECK: schedule.library_matmul 20 x 8 x 12 of bf16 for "b, c, a" (%[[COLUMNS]], %[[X]], %[[ALL]] : {{.*}}) {lda = 24 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
// CHECK-NOT: schedule.library_matmul
schedule.program @three {
  %x = schedule.buffer arena "x" : memref<2x6x8xbf16>
  %g = schedule.buffer arena "g" : memref<2x6x24xbf16>
  %a = schedule.view %g : memref<2x6x24xbf16> as memref<2x6x8xbf16, strided<[144, 24, 1], offset: 4>>
  %b = schedule.view %g : memref<2x6x24xbf16> as memref<2x6x4xbf16, strided<[144, 24, 1], offset: 12>>
  %c = schedule.view %g : memref<2x6x24xbf16> as memref<2x6x8xbf16, strided<[144, 24, 1], offset: 16>>
  %da = schedule.buffer gradients "a" at 64 : memref<8x8xf32>
  %db = schedule.buffer gradients "b" at 320 : memref<4x8xf32>
  %dc = schedule.buffer gradients "c" at 448 : memref<8x8xf32>
  schedule.library_matmul 4 x 8 x 12 of bf16 for "b" (%b, %x, %db : memref<2x6x4xbf16, strided<[144, 24, 1], offset: 12>>, memref<2x6x8xbf16>, memref<4x8xf32>) {lda = 24 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.library_matmul 8 x 8 x 12 of bf16 for "c" (%c, %x, %dc : memref<2x6x8xbf16, strided<[144, 24, 1], offset: 16>>, memref<2x6x8xbf16>, memref<8x8xf32>) {lda = 24 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.library_matmul 8 x 8 x 12 of bf16 for "a" (%a, %x, %da : memref<2x6x8xbf16, strided<[144, 24, 1], offset: 4>>, memref<2x6x8xbf16>, memref<8x8xf32>) {lda = 24 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
}

// What stays: gradients in another order than the columns, and with room between them; columns with room between them; another value that they are multiplied with.
// CHECK-LABEL: schedule.program @apart
// CHECK-COUNT-5: schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul"
schedule.program @apart {
  %x = schedule.buffer arena "x" : memref<12x8xbf16>
  %y = schedule.buffer arena "y" : memref<12x8xbf16>
  %g = schedule.buffer arena "g" : memref<12x40xbf16>
  %a = schedule.view %g : memref<12x40xbf16> as memref<12x8xbf16, strided<[40, 1]>>
  %b = schedule.view %g : memref<12x40xbf16> as memref<12x8xbf16, strided<[40, 1], offset: 8>>
  %c = schedule.view %g : memref<12x40xbf16> as memref<12x8xbf16, strided<[40, 1], offset: 16>>
  %d = schedule.view %g : memref<12x40xbf16> as memref<12x8xbf16, strided<[40, 1], offset: 25>>
  %e = schedule.view %g : memref<12x40xbf16> as memref<12x8xbf16, strided<[40, 1], offset: 32>>
  %da = schedule.buffer gradients "a" at 256 : memref<8x8xf32>
  %db = schedule.buffer gradients "b" at 0 : memref<8x8xf32>
  %dc = schedule.buffer gradients "c" at 320 : memref<8x8xf32>
  %dd = schedule.buffer gradients "d" at 576 : memref<8x8xf32>
  %de = schedule.buffer gradients "e" at 832 : memref<8x8xf32>
  schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul" (%a, %x, %da : memref<12x8xbf16, strided<[40, 1]>>, memref<12x8xbf16>, memref<8x8xf32>) {lda = 40 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul" (%b, %x, %db : memref<12x8xbf16, strided<[40, 1], offset: 8>>, memref<12x8xbf16>, memref<8x8xf32>) {lda = 40 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul" (%c, %x, %dc : memref<12x8xbf16, strided<[40, 1], offset: 16>>, memref<12x8xbf16>, memref<8x8xf32>) {lda = 40 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul" (%d, %x, %dd : memref<12x8xbf16, strided<[40, 1], offset: 25>>, memref<12x8xbf16>, memref<8x8xf32>) {lda = 40 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul" (%e, %y, %de : memref<12x8xbf16, strided<[40, 1], offset: 32>>, memref<12x8xbf16>, memref<8x8xf32>) {lda = 40 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
}

// Neighbours, of which one's operand is overwritten before the other is there, one's gradient is added to, and one's is used again.
// CHECK-LABEL: schedule.program @changed
// CHECK-COUNT-3: schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul"
schedule.program @changed {
  %x = schedule.buffer arena "x" : memref<12x8xbf16>
  %g = schedule.buffer arena "g" : memref<12x24xbf16>
  %a = schedule.view %g : memref<12x24xbf16> as memref<12x8xbf16, strided<[24, 1]>>
  %b = schedule.view %g : memref<12x24xbf16> as memref<12x8xbf16, strided<[24, 1], offset: 8>>
  %c = schedule.view %g : memref<12x24xbf16> as memref<12x8xbf16, strided<[24, 1], offset: 16>>
  %da = schedule.buffer gradients "a" at 0 : memref<8x8xf32>
  %db = schedule.buffer gradients "b" at 256 : memref<8x8xf32>
  %dc = schedule.buffer gradients "c" at 512 : memref<8x8xf32>
  schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul" (%a, %x, %da : memref<12x8xbf16, strided<[24, 1]>>, memref<12x8xbf16>, memref<8x8xf32>) {lda = 24 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.launch "neg" for "neg" grid 1 (%x, %a : memref<12x8xbf16>, memref<12x8xbf16, strided<[24, 1]>>) {threads = 32 : i64, writes = array<i64: 1>}
  schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul" (%b, %x, %db : memref<12x8xbf16, strided<[24, 1], offset: 8>>, memref<12x8xbf16>, memref<8x8xf32>) {lda = 24 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.library_matmul 8 x 8 x 12 of bf16 for "matmul" (%c, %x, %dc : memref<12x8xbf16, strided<[24, 1], offset: 16>>, memref<12x8xbf16>, memref<8x8xf32>) {lda = 24 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.output "c" %dc : memref<8x8xf32>
}

// Keys, values and gates of gated linear attention, whose queries' gradient is read again in full and so lies apart; and both halves of a SwiGLU.
// MODEL-LABEL: schedule.program @vjp
// MODEL: schedule.library_matmul 1024 x 128 x 32 of bf16 for "matmul, matmul" {{.*}} transpose_a
// MODEL: schedule.library_matmul 384 x 128 x 32 of bf16 for "matmul, matmul, matmul" {{.*}} transpose_a
