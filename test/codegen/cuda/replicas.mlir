// Replicas are rows of the grid: a kernel finds its replica's part of each space by a constant distance. Constants are shared.
// RUN: hybridc %s --target=cuda:sm_90a --ensemble 6 --emit=cuda | FileCheck %s
// RUN: hybridc %s --target=cuda:sm_90a --ensemble 6 --emit=schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: hybridc %s --target=cuda:sm_90a --ensemble 1 --emit=cuda > %t.one && hybridc %s --target=cuda:sm_90a --emit=cuda | diff - %t.one
// RUN: FileCheck %s --check-prefix=ONE < %t.one

// SCHEDULE: schedule.replicas = #schedule.replicas<6, arena [[ARENA:[0-9]+]], parameters 512, tile 0>

// CHECK: HYBRID_KERNEL(k0_rmsnormForward, 256, 1, (void *__restrict__ b0, void *__restrict__ b1, void *__restrict__ b2),
// CHECK-NEXT: rmsnormForward<float, {{.*}}>(item, ofReplica<[[ARENA:[0-9]+]]>(b0), ofReplica<512>(b1), RowStore<float, 96, 4>{ofReplica<[[ARENA]]>(b2)});)

// ONE-NOT: ofReplica
func.func @forward(%x: tensor<2x48x96xf32> {hybrid.name = "x"}) -> (tensor<2x48x96xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<96xf32>
  %y = hybrid.rmsnorm %x, %w : tensor<96xf32> : tensor<2x48x96xf32> -> tensor<2x48x96xf32>
  return %y : tensor<2x48x96xf32>
}
