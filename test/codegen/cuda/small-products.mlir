// Who multiplies: our kernel, where a product is of up to 2^18 terms and no more than 1024 a result, with what comes behind it in its store; otherwise a library, or
// where that is asked for.
// RUN: hybridc %s --target=cuda:sm_90a --emit=schedule | FileCheck %s
// RUN: hybridc %s --target=cuda:sm_90a --precision=f64 --emit=schedule | FileCheck %s --check-prefix=DOUBLE
// RUN: hybridc %s --target=cuda:sm_90a --precision=bf16 --emit=schedule | FileCheck %s --check-prefix=BF16
// RUN: hybridc %s --target=cuda:sm_90a --small-products=cublaslt --emit=schedule | FileCheck %s --check-prefix=LIBRARY
// RUN: hybridc %s --emit=schedule | FileCheck %s --check-prefix=NONE
// RUN: not hybridc %s --small-products=cublaslt --emit=schedule 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not hybrid-opt %s "--hybrid-schedule-cuda=products=own" 2>&1 | FileCheck %s --check-prefix=NAME
// CPU: --small-products=cublaslt: cuBLASLt runs on GPUs, expected --target=cuda
// NAME: products=own: expected cublaslt or auto

// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "smallProduct<float, SmallProductParams{.rows = 96, .columns = 24, .inner = 16, .transposeB = 1, .aStride = 16, .bStride = 16, .hasBias = 1}>" for "linear + fused(sin)" grid 36
// CHECK: schedule.library_matmul 4096 x 64 x 16 of f32 for "linear"
// CHECK: schedule.library_matmul 64 x 2 x 1025 of f32 for "matmul"
// CHECK: schedule.launch "smallProduct<float, SmallProductParams{.rows = 64, .columns = 2, .inner = 1024, .transposeA = 1, .aStride = 64, .bStride = 2}>" for "matmul" grid 16
// CHECK: schedule.library_matmul 4 x 5 x 6 of f32 for "matmul" {{.*}}batch = 3
// DOUBLE-COUNT-2: schedule.launch "smallProduct<double, SmallProductParams
// BF16-NOT: smallProduct
// LIBRARY-NOT: smallProduct
// LIBRARY-COUNT-5: schedule.library_matmul
// NONE-NOT: smallProduct
func.func @forward(%x: tensor<2x48x16xf32> {hybrid.name = "x"}, %w: tensor<24x16xf32> {hybrid.name = "w"}, %bias: tensor<24xf32> {hybrid.name = "bias"},
                   %many: tensor<4096x16xf32> {hybrid.name = "many"}, %wide: tensor<64x16xf32> {hybrid.name = "wide"},
                   %long: tensor<1025x64xf32> {hybrid.name = "long"}, %two: tensor<1025x2xf32> {hybrid.name = "two"},
                   %less: tensor<1024x64xf32> {hybrid.name = "less"}, %pair: tensor<1024x2xf32> {hybrid.name = "pair"},
                   %a: tensor<3x4x6xf32> {hybrid.name = "a"}, %b: tensor<3x6x5xf32> {hybrid.name = "b"})
    -> (tensor<2x48x24xf32> {hybrid.name = "wave"}, tensor<4096x64xf32> {hybrid.name = "large"}, tensor<64x2xf32> {hybrid.name = "deep"},
        tensor<64x2xf32> {hybrid.name = "sums"}, tensor<3x4x5xf32> {hybrid.name = "each"}) {
  %y = hybrid.linear %x, %w bias(%bias : tensor<24xf32>) : tensor<2x48x16xf32>, tensor<24x16xf32> -> tensor<2x48x24xf32>
  %wave = hybrid.unary sin %y : tensor<2x48x24xf32>
  %large = hybrid.linear %many, %wide : tensor<4096x16xf32>, tensor<64x16xf32> -> tensor<4096x64xf32>
  %deep = hybrid.matmul %long, %two {transpose_a} : tensor<1025x64xf32>, tensor<1025x2xf32> -> tensor<64x2xf32>
  %sums = hybrid.matmul %less, %pair {transpose_a} : tensor<1024x64xf32>, tensor<1024x2xf32> -> tensor<64x2xf32>
  %each = hybrid.matmul %a, %b : tensor<3x4x6xf32>, tensor<3x6x5xf32> -> tensor<3x4x5xf32>
  return %wave, %large, %deep, %sums, %each : tensor<2x48x24xf32>, tensor<4096x64xf32>, tensor<64x2xf32>, tensor<64x2xf32>, tensor<3x4x5xf32>
}
