// RUN: hybridc %s --batch 2 --length 64 --target=cpu:x86-64-v4 --emit=llvm | FileCheck %s --enable-var-scope --check-prefix=V4
// RUN: hybridc %s --batch 2 --length 64 --target=cpu:x86-64-v3 --emit=llvm | FileCheck %s --enable-var-scope --check-prefix=V3

// The row kernel is specialised: its width is a constant, and vectors have the width of the target. Library code carries the target's
// attributes, not those it was compiled with.
// V4: define void @k{{[0-9]+}}_rmsnorm_forward_f32(
// V4: <16 x float>
// V4: attributes {{.*}}"target-cpu"="x86-64-v4"
// V3: define void @k{{[0-9]+}}_rmsnorm_forward_f32(
// V3: <8 x float>
// V3: attributes {{.*}}"target-cpu"="x86-64-v3"
func.func @forward(%x: tensor<?x?x64xf32> {hybrid.name = "x", hybrid.dims = ["B", "L", 64]}) -> (tensor<?x?x64xf32> {hybrid.name = "y"}) {
  %y = hybrid.rmsnorm %x : tensor<?x?x64xf32> -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}
