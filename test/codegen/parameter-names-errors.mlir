// IR that a person wrote may name a parameter that there is not, or give it another type.
// RUN: hybridc %models/mad/mamba.hyb --batch 2 --length 8 --set width=16 --emit=grad -o %t.mlir
// RUN: sed '/func.func @vjp/,/^  }/s/hybrid.parameter "blocks.1.mamba.x_proj.weight"/hybrid.parameter "blocks.1.mamba.x_proj.weigh"/' %t.mlir > %t.name.mlir
// RUN: not hybridc %t.name.mlir -o %t.hyx 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: {{.*}}names the parameter "blocks.1.mamba.x_proj.weigh", which @forward does not have
// RUN: sed '/func.func @vjp/,/^  }/s/hybrid.parameter "blocks.1.mamba.skip"/hybrid.parameter "blocks.1.mamba.x_proj.weight"/' %t.mlir > %t.type.mlir
// RUN: not hybridc %t.type.mlir -o %t.hyx 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: {{.*}}takes the parameter "blocks.1.mamba.x_proj.weight" for 'tensor<32xf32>', in @forward it is 'tensor<9x32xf32>'
