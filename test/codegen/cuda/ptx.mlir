// REQUIRES: nvrtc
// The text compiles, for the GPU that was asked for.
// RUN: hybridc %s --target=cuda:sm_90a --emit=ptx | FileCheck %s
// RUN: hybridc %s --target=cuda:sm_80 --emit=ptx | FileCheck %s --check-prefix=OLD
// RUN: hybridc %s --target=cuda:sm_80,sm_90a,compute_90 -o %t.hyx

// CHECK: .target sm_90a
// CHECK: .entry k0_fused_0
// Four neighbours an instruction.
// CHECK: ld.global{{.*}}.v4.{{[bf]}}32
// CHECK: ex2.approx.ftz.f32
// CHECK: st.global.v4.{{[bfu]}}32
// OLD: .target sm_80
func.func @forward(%a: tensor<2x48x128xf32> {hybrid.name = "a"}) -> (tensor<2x48x128xf32> {hybrid.name = "y"}) {
  %silu = hybrid.unary silu %a : tensor<2x48x128xf32>
  return %silu : tensor<2x48x128xf32>
}
