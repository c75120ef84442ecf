// RUN: hybrid-opt %s --split-input-file --schedule-assign-branches=growth=1000 | FileCheck %s --check-prefixes=CHECK,FREE --implicit-check-not='"step"{{.*}}schedule.after'
// RUN: hybrid-opt %s --split-input-file --schedule-assign-branches=growth=200 | FileCheck %s --check-prefixes=CHECK,NEAR
// RUN: hybrid-opt %s --split-input-file --schedule-assign-branches=growth=0 | FileCheck %s --check-prefixes=CHECK,ORDER
// RUN: hybrid-opt %s --split-input-file --schedule-assign-branches=growth=100 | FileCheck %s --check-prefix=LAG
// RUN: hybrid-opt %s --split-input-file --schedule-assign-branches=growth=1000 --schedule-plan-arena | FileCheck %s --check-prefix=ARENA

// A filter of parameters is needed by the third launch only, and the gradient of a weight by nobody before its sum over ranks. What is on the longest way stays on one
// branch, and where a step waits for one of several on another branch, it knows those before to be done.
// FREE-LABEL: schedule.program @parts
// FREE: schedule.launch "filter" {{.*}} {schedule.branch = 1 : i64, writes = array<i64: 1>}
// FREE-NEXT: schedule.launch "decay" {{.*}} {schedule.branch = 1 : i64, writes = array<i64: 1>}
// FREE-NEXT: schedule.launch "norm" {{.*}} {writes = array<i64: 1>}
// FREE-NEXT: schedule.launch "mix" {{.*}} {schedule.after = array<i64: 1>, writes = array<i64: 2>}
// FREE-NEXT: {{schedule.}}library_matmul {{.*}} {lda = 256 : i64, ldb = 256 : i64, ldc = 256 : i64, schedule.after = array<i64: 3>, schedule.branch = 1 : i64, transpose_a}
// FREE-NEXT: schedule.launch "first" {{.*}} {writes = array<i64: 1>}
// FREE-NEXT: schedule.launch "second" {{.*}} {writes = array<i64: 1>}
// FREE-NEXT: schedule.launch "third" {{.*}} {writes = array<i64: 1>}
// FREE-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" (%{{.*}}) {schedule.after = array<i64: 4>}
// FREE-NEXT: schedule.await
// ARENA-LABEL: schedule.program @parts arena
// ARENA: schedule.launch "filter" {{.*}}schedule.branch = 1
// ARENA: {{schedule.}}library_matmul {{.*}}schedule.after = array<i64: 3>, schedule.branch = 1
schedule.program @parts {
  %x = schedule.buffer arena "x" : memref<4096x256xf32>
  %p = schedule.buffer parameters "p" at 0 : memref<64x64xf32>
  %g = schedule.buffer gradients "w" at 0 : memref<256x256xf32>
  %f = schedule.buffer arena : memref<64x64xf32>
  %h = schedule.buffer arena : memref<64x64xf32>
  %a = schedule.buffer arena : memref<4096x256xf32>
  %b = schedule.buffer arena : memref<4096x256xf32>
  %c = schedule.buffer arena : memref<4096x256xf32>
  %d = schedule.buffer arena : memref<4096x256xf32>
  %y = schedule.buffer arena : memref<4096x256xf32>
  schedule.launch "filter" for "f" grid 4 (%p, %f : memref<64x64xf32>, memref<64x64xf32>) {writes = array<i64: 1>}
  schedule.launch "decay" for "f" grid 4 (%f, %h : memref<64x64xf32>, memref<64x64xf32>) {writes = array<i64: 1>}
  schedule.launch "norm" for "n" grid 4096 (%x, %a : memref<4096x256xf32>, memref<4096x256xf32>) {writes = array<i64: 1>}
  schedule.launch "mix" for "m" grid 4096 (%a, %h, %b : memref<4096x256xf32>, memref<64x64xf32>, memref<4096x256xf32>) {writes = array<i64: 2>}
  schedule.library_matmul 256 x 256 x 4096 of f32 for "linear" (%a, %b, %g : memref<4096x256xf32>, memref<4096x256xf32>, memref<256x256xf32>) {lda = 256 : i64, ldb = 256 : i64, ldc = 256 : i64, transpose_a}
  schedule.launch "first" for "r" grid 4096 (%b, %c : memref<4096x256xf32>, memref<4096x256xf32>) {writes = array<i64: 1>}
  schedule.launch "second" for "r" grid 4096 (%c, %d : memref<4096x256xf32>, memref<4096x256xf32>) {writes = array<i64: 1>}
  schedule.launch "third" for "r" grid 4096 (%d, %y : memref<4096x256xf32>, memref<4096x256xf32>) {writes = array<i64: 1>}
  schedule.all_reduce f32 as f32 for "data_parallel" (%g : memref<256x256xf32>)
  schedule.await for "data_parallel" (%g : memref<256x256xf32>)
  schedule.output "y" %y : memref<4096x256xf32>
}

// -----

// Each needs the one before it: nothing changes.
// CHECK-LABEL: schedule.program @chain
// CHECK-NOT: schedule.branch
// CHECK-NOT: schedule.after
// CHECK: schedule.output
schedule.program @chain {
  %x = schedule.buffer arena "x" : memref<64x64xf32>
  %a = schedule.buffer arena : memref<64x64xf32>
  %b = schedule.buffer arena : memref<64x64xf32>
  schedule.launch "a" for "a" grid 4 (%x, %a : memref<64x64xf32>, memref<64x64xf32>) {writes = array<i64: 1>}
  schedule.launch "b" for "b" grid 4 (%a, %b : memref<64x64xf32>, memref<64x64xf32>) {writes = array<i64: 1>}
  schedule.launch "c" for "c" grid 4 (%b, %a : memref<64x64xf32>, memref<64x64xf32>) {writes = array<i64: 1>}
  schedule.output "y" %a : memref<64x64xf32>
}

// -----

// Behind every step of a chain something reads what it made: as long as that is not done, the memory is not free. The arena of the chain alone has room for the input
// and two of these buffers. Let go, it has all of them; when three times of it are allowed, the chain waits for what holds them; and when no more is, nothing changes.
// FREE-LABEL: schedule.program @long
// FREE-COUNT-16: schedule.branch = 1
// NEAR-LABEL: schedule.program @long
// NEAR: schedule.branch = 1
// NEAR: schedule.launch "step"{{.*}}schedule.after
// ORDER-LABEL: schedule.program @long
// ORDER-NOT: schedule.branch
// ORDER-NOT: schedule.after
// ORDER: schedule.output
schedule.program @long {
  %c0 = schedule.buffer arena "x" : memref<1024x256xf32>
  %s = schedule.buffer gradients "w" at 0 : memref<16x64xf32>
  %c1 = schedule.buffer arena : memref<1024x256xf32>
  %c2 = schedule.buffer arena : memref<1024x256xf32>
  %c3 = schedule.buffer arena : memref<1024x256xf32>
  %c4 = schedule.buffer arena : memref<1024x256xf32>
  %c5 = schedule.buffer arena : memref<1024x256xf32>
  %c6 = schedule.buffer arena : memref<1024x256xf32>
  %c7 = schedule.buffer arena : memref<1024x256xf32>
  %c8 = schedule.buffer arena : memref<1024x256xf32>
  %c9 = schedule.buffer arena : memref<1024x256xf32>
  %c10 = schedule.buffer arena : memref<1024x256xf32>
  %c11 = schedule.buffer arena : memref<1024x256xf32>
  %c12 = schedule.buffer arena : memref<1024x256xf32>
  %c13 = schedule.buffer arena : memref<1024x256xf32>
  %c14 = schedule.buffer arena : memref<1024x256xf32>
  %c15 = schedule.buffer arena : memref<1024x256xf32>
  %c16 = schedule.buffer arena : memref<1024x256xf32>
  schedule.launch "step" for "s" grid 1024 (%c0, %c1 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s1 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 0>>
  schedule.launch "sum" for "s" grid 1 (%c0, %s1 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 0>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c1, %c2 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s2 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 64>>
  schedule.launch "sum" for "s" grid 1 (%c1, %s2 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 64>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c2, %c3 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s3 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 128>>
  schedule.launch "sum" for "s" grid 1 (%c2, %s3 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 128>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c3, %c4 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s4 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 192>>
  schedule.launch "sum" for "s" grid 1 (%c3, %s4 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 192>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c4, %c5 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s5 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 256>>
  schedule.launch "sum" for "s" grid 1 (%c4, %s5 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 256>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c5, %c6 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s6 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 320>>
  schedule.launch "sum" for "s" grid 1 (%c5, %s6 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 320>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c6, %c7 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s7 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 384>>
  schedule.launch "sum" for "s" grid 1 (%c6, %s7 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 384>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c7, %c8 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s8 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 448>>
  schedule.launch "sum" for "s" grid 1 (%c7, %s8 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 448>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c8, %c9 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s9 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 512>>
  schedule.launch "sum" for "s" grid 1 (%c8, %s9 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 512>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c9, %c10 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s10 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 576>>
  schedule.launch "sum" for "s" grid 1 (%c9, %s10 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 576>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c10, %c11 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s11 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 640>>
  schedule.launch "sum" for "s" grid 1 (%c10, %s11 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 640>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c11, %c12 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s12 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 704>>
  schedule.launch "sum" for "s" grid 1 (%c11, %s12 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 704>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c12, %c13 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s13 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 768>>
  schedule.launch "sum" for "s" grid 1 (%c12, %s13 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 768>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c13, %c14 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s14 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 832>>
  schedule.launch "sum" for "s" grid 1 (%c13, %s14 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 832>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c14, %c15 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s15 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 896>>
  schedule.launch "sum" for "s" grid 1 (%c14, %s15 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 896>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c15, %c16 : memref<1024x256xf32>, memref<1024x256xf32>) {writes = array<i64: 1>}
  %s16 = schedule.view %s : memref<16x64xf32> as memref<64xf32, strided<[1], offset: 960>>
  schedule.launch "sum" for "s" grid 1 (%c15, %s16 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 960>>) {writes = array<i64: 1>}
  schedule.output "y" %c16 : memref<1024x256xf32>
}

// -----

// What holds little is not worth a wait: notes of a few bytes lag as far as they like, and the chain waits for sums, which hold a tensor each.
// LAG-LABEL: schedule.program @notes
// LAG: schedule.launch "step" {{.*}} {schedule.after = array<i64: 1>, writes
// LAG: schedule.launch "step" {{.*}} {schedule.after = array<i64: 4>, writes
// LAG: schedule.launch "step" {{.*}} {schedule.after = array<i64: 7>, writes
// LAG: schedule.launch "step" {{.*}} {schedule.after = array<i64: 10>, writes
schedule.program @notes {
  %c0 = schedule.buffer arena "x" : memref<1024x256xf32>
  %s = schedule.buffer gradients "w" at 0 : memref<32x64xf32>
  %c1 = schedule.buffer arena : memref<1024x256xf32>
  %t1 = schedule.buffer arena : memref<64xf32>
  %c2 = schedule.buffer arena : memref<1024x256xf32>
  %t2 = schedule.buffer arena : memref<64xf32>
  %c3 = schedule.buffer arena : memref<1024x256xf32>
  %t3 = schedule.buffer arena : memref<64xf32>
  %c4 = schedule.buffer arena : memref<1024x256xf32>
  %t4 = schedule.buffer arena : memref<64xf32>
  %c5 = schedule.buffer arena : memref<1024x256xf32>
  %t5 = schedule.buffer arena : memref<64xf32>
  %c6 = schedule.buffer arena : memref<1024x256xf32>
  %t6 = schedule.buffer arena : memref<64xf32>
  %c7 = schedule.buffer arena : memref<1024x256xf32>
  %t7 = schedule.buffer arena : memref<64xf32>
  %c8 = schedule.buffer arena : memref<1024x256xf32>
  %t8 = schedule.buffer arena : memref<64xf32>
  %c9 = schedule.buffer arena : memref<1024x256xf32>
  %t9 = schedule.buffer arena : memref<64xf32>
  %c10 = schedule.buffer arena : memref<1024x256xf32>
  %t10 = schedule.buffer arena : memref<64xf32>
  schedule.launch "step" for "s" grid 1024 (%c0, %c1, %t1 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s1 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 64>>
  schedule.launch "sum" for "s" grid 1 (%c0, %s1 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 64>>) {writes = array<i64: 1>}
  %n1 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1088>>
  schedule.launch "note" for "s" grid 1 (%t1, %n1 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1088>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c1, %c2, %t2 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s2 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 128>>
  schedule.launch "sum" for "s" grid 1 (%c1, %s2 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 128>>) {writes = array<i64: 1>}
  %n2 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1152>>
  schedule.launch "note" for "s" grid 1 (%t2, %n2 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1152>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c2, %c3, %t3 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s3 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 192>>
  schedule.launch "sum" for "s" grid 1 (%c2, %s3 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 192>>) {writes = array<i64: 1>}
  %n3 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1216>>
  schedule.launch "note" for "s" grid 1 (%t3, %n3 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1216>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c3, %c4, %t4 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s4 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 256>>
  schedule.launch "sum" for "s" grid 1 (%c3, %s4 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 256>>) {writes = array<i64: 1>}
  %n4 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1280>>
  schedule.launch "note" for "s" grid 1 (%t4, %n4 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1280>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c4, %c5, %t5 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s5 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 320>>
  schedule.launch "sum" for "s" grid 1 (%c4, %s5 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 320>>) {writes = array<i64: 1>}
  %n5 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1344>>
  schedule.launch "note" for "s" grid 1 (%t5, %n5 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1344>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c5, %c6, %t6 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s6 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 384>>
  schedule.launch "sum" for "s" grid 1 (%c5, %s6 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 384>>) {writes = array<i64: 1>}
  %n6 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1408>>
  schedule.launch "note" for "s" grid 1 (%t6, %n6 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1408>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c6, %c7, %t7 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s7 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 448>>
  schedule.launch "sum" for "s" grid 1 (%c6, %s7 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 448>>) {writes = array<i64: 1>}
  %n7 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1472>>
  schedule.launch "note" for "s" grid 1 (%t7, %n7 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1472>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c7, %c8, %t8 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s8 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 512>>
  schedule.launch "sum" for "s" grid 1 (%c7, %s8 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 512>>) {writes = array<i64: 1>}
  %n8 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1536>>
  schedule.launch "note" for "s" grid 1 (%t8, %n8 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1536>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c8, %c9, %t9 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s9 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 576>>
  schedule.launch "sum" for "s" grid 1 (%c8, %s9 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 576>>) {writes = array<i64: 1>}
  %n9 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1600>>
  schedule.launch "note" for "s" grid 1 (%t9, %n9 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1600>>) {writes = array<i64: 1>}
  schedule.launch "step" for "s" grid 1024 (%c9, %c10, %t10 : memref<1024x256xf32>, memref<1024x256xf32>, memref<64xf32>) {writes = array<i64: 1, 2>}
  %s10 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 640>>
  schedule.launch "sum" for "s" grid 1 (%c9, %s10 : memref<1024x256xf32>, memref<64xf32, strided<[1], offset: 640>>) {writes = array<i64: 1>}
  %n10 = schedule.view %s : memref<32x64xf32> as memref<64xf32, strided<[1], offset: 1664>>
  schedule.launch "note" for "s" grid 1 (%t10, %n10 : memref<64xf32>, memref<64xf32, strided<[1], offset: 1664>>) {writes = array<i64: 1>}
  schedule.output "y" %c10 : memref<1024x256xf32>
}
