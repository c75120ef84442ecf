//===- Passes.td - every graph pass, in pipeline order ----------*- tablegen -*-===//
#ifndef HYBRID_PASSES_TD
#define HYBRID_PASSES_TD
include "mlir/Pass/PassBase.td"

def Specialize : Pass<"hybrid-specialize", "::mlir::ModuleOp"> {
  let summary = "bind free dimensions and precision";
  let description = [{
    Gives every free dimension of `@forward` its size, infers all types again, converts floating point types to `precision`, and moves the
    initial values of parameters into a function `@init`.

    ```mlir
    func.func @forward(%tokens: tensor<?x?xi32> {hybrid.dims = ["B", "L"]})   // before
    func.func @forward(%tokens: tensor<32x128xi32>)                           // after, batch=32 length=128
    func.func @init(%seed: tensor<2xi32>)                                     // draws every parameter
    ```
  }];
  let options = [
    Option<"batch", "batch", "int64_t", "1", "size of the free dimension B">,
    Option<"length", "length", "int64_t", "128", "size of the free dimension L">,
    Option<"precision", "precision", "std::string", "\"f32\"", "element type of floating point tensors: f32 or f64">
  ];
}

def ExpandExperts : Pass<"hybrid-expand-experts", "::mlir::func::FuncOp"> {
  let summary = "compute mixtures of experts for the rows that chose them";
  let description = [{
    Makes `route`, `dispatch`, `grouped_linear` and `collect` of a mixture whose experts look at one row at a time, so that each row is multiplied with its
    own expert's weights and no others:

    ```mlir
    %y = hybrid.routed_experts %x to %choices weighted %weights own(%w) among 4 {   // before
    ^bb0(%e, %a):
      %h = hybrid.linear %e, %a
      hybrid.yield %h
    }
    %slots, %offsets = hybrid.route %choices among 4                                // after
    %rows = hybrid.dispatch %pairs by %slots                                        // %pairs: x, once a choice
    %h = hybrid.grouped_linear %rows, %w, %offsets
    %z = hybrid.collect %h by %slots                                                // times %weights, summed over the choices
    ```

    The body of an expert that mixes positions is repeated for each expert instead.
  }];
  let statistics = [Statistic<"numSparse", "sparse", "mixtures computed for chosen rows">,
                    Statistic<"numDense", "dense", "mixtures computed whole for every expert">];
}

def AttachLoss : Pass<"hybrid-attach-loss", "::mlir::ModuleOp"> {
  let summary = "make the evaluation program of a model with logits or a prediction";
  let description = [{
    When `@forward` has a result called `logits` of shape [B, L, V] (or [B, V]), adds `@eval`: the same computation with an input `targets`
    and results `loss`, `weight`, `correct`, `logits` from `hybrid.cross_entropy`.

    A result `prediction` of shape [B, L, M] of a model without logits makes it a regression: `targets` are [B, L, M + 1], the numbers wanted and the weight
    of the position, and the loss is the mean square of the differences by these weights. `correct` is 0 then.
  }];
  let options = [Option<"weightFirst", "weight-first", "bool", "false", "know the weight before the loss, for gradients of what is weighted by it">];
}

def BoundIds : Pass<"hybrid-bound-ids", "::mlir::func::FuncOp"> {
  let summary = "note which inputs are ids, and what they may be";
  let description = [{
    An integer input whose every element an op looks something up by (`IndexingOp`: token ids, classes) gets the range of that as `hybrid.ids`, the
    narrowest of several. It goes with the input into the executable, and arrays from outside are checked against it.

    ```mlir
    func.func @forward(%tokens: tensor<2x8xi32>) {                                            // before
      %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
    func.func @forward(%tokens: tensor<2x8xi32> {hybrid.ids = #hybrid.ids<below 16>}) {       // after
    ```
  }];
}

def CarryState : Pass<"hybrid-carry-state", "::mlir::ModuleOp"> {
  let summary = "make programs that take a sequence in parts";
  let description = [{
    Adds `@chunk`: `@forward` on a part of a sequence, continued from inputs `state.0`, `state.1`, ..., one for each op that carries state; its results of
    the same names are the state for the next part. All zeros are the start. A model that has no state of fixed size (attention, long convolutions), or
    whose positions meet in another way, is refused where they do.

    ```mlir
    func.func @forward(%tokens: tensor<1x64xi32>) -> tensor<1x64x16xf32>
    func.func @chunk(%tokens: tensor<1x64xi32>, %state: tensor<1x8x4xf32> {hybrid.name = "state.0"})     // added
        -> (tensor<1x64x16xf32> {hybrid.name = "logits"}, tensor<1x8x4xf32> {hybrid.name = "state.0"})
    ```

    With `decode` it adds `@step`, for the next token, and `@prefill`, for `prefill` tokens, instead. Their states lie where parameters do, and what
    grows with the sequence is kept for as many positions as `@forward` has. Filters and tables have the length that they have there; a table of positions is
    read at the input `positions`, the numbers of the tokens' positions.

    ```mlir
    func.func @step(%tokens: tensor<1x1xi32>) -> (tensor<1x1x16xf32> {hybrid.name = "logits"}) {
      %before = hybrid.parameter "state:0" {hybrid.state, trainable = false, decay = false} : tensor<1x8x4xf32>
      ...
      hybrid.assign "state:0", %after {hybrid.state} : tensor<1x8x4xf32>
    ```
  }];
  let options = [
    Option<"decode", "decode", "bool", "false", "make @prefill and @step, and no @chunk">,
    Option<"prefill", "prefill", "int64_t", "64", "tokens that @prefill takes, or the length where that is less">
  ];
}

def SplitSequence : Pass<"hybrid-split-sequence", "::mlir::ModuleOp"> {
  let summary = "make a model work on the part of a sequence that one of several ranks has";
  let description = [{
    `@forward` becomes a program for L / `ranks` positions, the next part on each rank in their order. Ops with a state whose size does not depend on the length start
    from the one that the rank before sends, and send theirs on; what is sent does not grow with the sequence. Attention and long convolutions compute some heads (channels) of all positions
    on each rank, for which ranks swap positions for heads before and back behind them. What is not of the sequence but differs from position to position is that of the rank's
    part. What positions meet in besides is refused, where it does.

    ```mlir
    %y = hybrid.short_conv %x, %w : tensor<1x64x8xf32>, tensor<8x3xf32> -> tensor<1x64x8xf32>              // before

    %before = hybrid.receive_state from previous of 4 : tensor<1x2x8xf32>                                  // after
    %y, %after = hybrid.short_conv %x, %w initial_state(%before : tensor<1x2x8xf32>) {return_state} ...    // 16 positions
    hybrid.send_state %after to next of 4 : tensor<1x2x8xf32>
    ```
  }];
  let options = [Option<"ranks", "ranks", "int64_t", "0", "ranks that have parts of a sequence">];
}

def PrepareDecoding : Pass<"hybrid-prepare-decoding", "::mlir::ModuleOp"> {
  let summary = "compute once what decoding needs of the parameters alone";
  let description = [{
    Moves what `@prefill` and `@step` compute of parameters and constants alone, a long filter for example, to `@prepare`, which leaves it in states. What
    both compute is one state.

    ```mlir
    %h = hybrid.modal_filter %a, %a, %re, %im to [64]                                              // in @prepare
    hybrid.assign "prepared:0", %h {hybrid.state}
    %h = hybrid.parameter "prepared:0" {hybrid.state, trainable = false, decay = false}            // in @step
    ```
  }];
  let statistics = [Statistic<"numPrepared", "prepared", "values computed once">];
}

def Differentiate : Pass<"hybrid-differentiate", "::mlir::ModuleOp"> {
  let summary = "derive gradient programs by reverse mode";
  let description = [{
    Adds `@vjp` for `@forward` (inputs and a cotangent for each floating point result; gradients of inputs and trainable parameters),
    `@train` for `@eval` (gradients of the loss with respect to trainable parameters) and, for a model with `@eval` or with a scalar
    result `loss` of its own, `@update` (AdamW). Only what is needed is built: values that no parameter or input depends on get no gradient.

    In `@train` a `hybrid.dropout` becomes a product with drawn numbers, and the program has an input `seed`, another at each step:

    ```mlir
    %y = hybrid.dropout %x rate 0.1 along [0] "dropout" : tensor<2x8x4xf32>        // before
    %u = hybrid.random uniform(0.0, 1.0) "dropout" : tensor<2x1x1xf32>             // after, in @train
    ```
  }];
  let options = [Option<"weighted", "weighted", "bool", "false", "gradients in @train are those of loss times weight, the sum over positions">];
}

def LeaveOutDropout : Pass<"hybrid-leave-out-dropout", "::mlir::func::FuncOp"> {
  let summary = "let dropout be nothing in programs that do not train";
  let description = [{
    ```mlir
    %y = hybrid.dropout %x rate 0.1 along [0] "dropout" : tensor<2x8x4xf32>        // before
    %z = hybrid.unary silu %y : tensor<2x8x4xf32>
    %z = hybrid.unary silu %x : tensor<2x8x4xf32>                                  // after
    ```
  }];
}

def ExpandLongConvolutions : Pass<"hybrid-expand-long-convolutions", "::mlir::func::FuncOp"> {
  let summary = "compute the longest convolutions as transforms and their product";
  let description = [{
    Of sequences whose positions and taps but one are together more than `longest`: padded to a length N without prime factors above 7, transformed, multiplied
    and transformed back. Runs before differentiation, which knows the gradients of all of that. Packed segments stay as they are.

    ```mlir
    %y = hybrid.fftconv %x, %h                              // before

    %w = hybrid.pad ... : tensor<Lx(BC)xf32> -> tensor<Nx(BC)xf32>     // after: of x, whose positions lead
    %xr, %xi = hybrid.rfft %w
    %hr, %hi = hybrid.rfft %g                               // of h, padded
    %z = hybrid.irfft %re, %im to N {weighted}              // of the product
    %y = hybrid.slice ...                                   // the first L positions
    ```
  }];
  let options = [
    Option<"longest", "longest", "int64_t", "0", "positions and taps but one, together, of the longest sequences that stay">
  ];
  let statistics = [Statistic<"numExpanded", "expanded", "convolutions that became transforms">];
}

def FuseGates : Pass<"hybrid-fuse-gates", "::mlir::func::FuncOp"> {
  let summary = "fold gates and the skip term into the long convolution or the selective scan between them";
  let description = [{
    ```mlir
    %w = hybrid.binary mul %v, %g1                      // before
    %c = hybrid.fftconv %w, %h
    %y = hybrid.binary mul %c, %g0
    %y = hybrid.fftconv %v, %h gate_in(%g1) gate_out(%g0)  // after

    %s = hybrid.unary softplus %v                       // before
    %h = hybrid.selective_scan %x, %s, %a, %b, %c
    %w = hybrid.binary mul %d, %x
    %u = hybrid.binary add %h, %w
    %g = hybrid.unary silu %z
    %y = hybrid.binary mul %u, %g
    %y = hybrid.selective_scan %x, %v, %a, %b, %c skip(%d) gate(%z) {dt_softplus}  // after
    ```

    A bias of the step, added to it or by the projection it comes from, becomes the scan's `dt_bias`.
  }];
  let statistics = [Statistic<"numFused", "fused", "gates, skips and steps folded">];
}

def RoundProducts : Pass<"hybrid-round-products", "::mlir::func::FuncOp"> {
  let summary = "give matrix products bf16 operands";
  let description = [{
    Mixed precision: what a matrix product multiplies is rounded to bf16, its sums and results stay f32, and so does everything else (parameters,
    norms, softmax, filters, scans, the loss, the optimizer). Runs after differentiation, so that products of the backward pass are rounded alike and
    no cotangent is rounded that is not multiplied. A value is rounded once, where it is made, for all products that use it. Products that no input
    reaches make filters: they and their gradients stay f32.

    ```mlir
    %y = hybrid.linear %x, %w : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>     // before
    %0 = hybrid.round %x : tensor<2x8x4xf32> -> tensor<2x8x4xbf16>                            // after
    %1 = hybrid.round %w : tensor<16x4xf32> -> tensor<16x4xbf16>
    %y = hybrid.linear %0, %1 : tensor<2x8x4xbf16>, tensor<16x4xbf16> -> tensor<2x8x16xf32>
    ```

    A product of a few rows takes as long as its weights are read, so `most-rows` is worth it without instructions for bf16.
  }];
  let options = [
    Option<"mostRows", "most-rows", "int64_t", "0", "round only projections by weights of at most so many rows; 0: all products">
  ];
  let statistics = [Statistic<"numRounded", "rounded", "matrix products given bf16 operands">];
}

def ChainProducts : Pass<"hybrid-chain-products", "::mlir::func::FuncOp"> {
  let summary = "make one op of products and the products of what they made";
  let description = [{
    What lies between two projections of bf16, as the inner width of a feed-forward layer does, is multiplied, put through elementwise ops and multiplied
    again by one kernel, `hybrid.product_chain`. What a gradient needs of it is multiplied again in the chain of the gradient; the rounded values that gradients
    of weights read are results of that chain. A value that others read and no chain can save stays outside, with all that is made of it.
    An input has to be multiplied at least twice, as that of a gated unit is: chains of one product of their input take longer than launches of their own.

    ```mlir
    %p = hybrid.linear %x, %w : tensor<2x8x64xbf16>, tensor<256x64xbf16> -> tensor<2x8x256xf32>    // before
    %g = hybrid.linear %x, %u : tensor<2x8x64xbf16>, tensor<256x64xbf16> -> tensor<2x8x256xf32>
    %s = hybrid.binary mul %p, %g : tensor<2x8x256xf32>, tensor<2x8x256xf32>
    %r = hybrid.round %s : tensor<2x8x256xf32> -> tensor<2x8x256xbf16>
    %y = hybrid.linear %r, %v : tensor<2x8x256xbf16>, tensor<64x256xbf16> -> tensor<2x8x64xf32>

    %y = hybrid.product_chain(%x, %w, %u, %v) : ... -> tensor<2x8x64xf32> { ... }                   // after
    ```
  }];
  let options = [Option<"ungated", "ungated", "bool", "false", "chains of one product of their input, too">];
  let statistics = [Statistic<"numChains", "chains", "ops made of products and what was made of them">];
}

def JoinProducts : Pass<"hybrid-join-products", "::mlir::func::FuncOp"> {
  let summary = "make one product of a sum of products";
  let description = [{
    What several projections read has a gradient that is a sum of products, and each of them writes all of it, or reads and writes it. Here the operands of
    bf16 lie side by side, and are those of one product: activations are computed where they lie in the concatenation, as are rounded weights,
    and products for the gradients of weights read parts of it.

    ```mlir
    %a = hybrid.round %x : tensor<2x8x16xf32> -> tensor<2x8x16xbf16>                                   // before
    %b = hybrid.round %y : tensor<2x8x8xf32> -> tensor<2x8x8xbf16>
    %p = hybrid.matmul %a, %w : tensor<2x8x16xbf16>, tensor<16x4xbf16> -> tensor<2x8x4xf32>
    %q = hybrid.matmul %b, %v : tensor<2x8x8xbf16>, tensor<8x4xbf16> -> tensor<2x8x4xf32>
    %s = hybrid.binary add %p, %q : tensor<2x8x4xf32>, tensor<2x8x4xf32>

    %c = hybrid.concat %x, %y along 2 : tensor<2x8x16xf32>, tensor<2x8x8xf32> -> tensor<2x8x24xf32>    // after
    %d = hybrid.round %c : tensor<2x8x24xf32> -> tensor<2x8x24xbf16>
    %u = hybrid.concat %w, %v along 0 : tensor<16x4xbf16>, tensor<8x4xbf16> -> tensor<24x4xbf16>
    %s = hybrid.matmul %d, %u : tensor<2x8x24xbf16>, tensor<24x4xbf16> -> tensor<2x8x4xf32>
    ```
  }];
  let statistics = [Statistic<"numJoined", "joined", "products that became one with others">];
}

def ShareRepeats : Pass<"hybrid-share-repeats", "::mlir::func::FuncOp"> {
  let summary = "channels that repeat an input are read where it lies, and their gradients summed where they are made";
  let description = [{
    Hyena's projections are shared: its short convolution reads the same channels several times over, and what comes back for each of them is added
    up. A short convolution can read them where they are, as a `hybrid.repeat_channels`, so that memory has them once. Its gradient can add up itself, and all
    but the sum never reaches memory. For devices whose kernels can.

    ```mlir
    %c = hybrid.concat %p, %p along 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x8xf32>                       // before
    %dx, %dw, %db = hybrid.short_conv_grad %c, %w, %dy : tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<8xf32>
    %d:2 = hybrid.split %dx along 2 sizes [4, 4] : tensor<2x8x8xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>
    %s = hybrid.binary add %d#0, %d#1 : tensor<2x8x4xf32>, tensor<2x8x4xf32>

    %s, %dw, %db = hybrid.short_conv_grad %p, %w, %dy : tensor<2x8x4xf32>, tensor<8x3xf32>, tensor<2x8x8xf32> -> tensor<2x8x4xf32>, tensor<8x3xf32>, tensor<8xf32>   // after

    %c = hybrid.concat %p, %p along 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x8xf32>   // before
    %y = hybrid.short_conv %c, %w : tensor<2x8x8xf32>, tensor<8x3xf32> -> tensor<2x8x8xf32>

    %c = hybrid.repeat_channels %p times 2 : tensor<2x8x4xf32> -> tensor<2x8x8xf32>                           // after
    %y = hybrid.short_conv %c, %w : tensor<2x8x8xf32>, tensor<8x3xf32> -> tensor<2x8x8xf32>
    ```
  }];
  let statistics = [Statistic<"numSummed", "summed", "gradients that became sums">, Statistic<"numRead", "read", "concatenations that nothing writes any more">];
}

def FuseElementwise : Pass<"hybrid-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "group elementwise ops into kernels";
  let description = [{
    Connected elementwise ops of one iteration shape become one `hybrid.fused` region, so that values between them never reach memory. A cheap function
    of a saved value is computed again in the backward pass rather than saved itself.
  }];
  let statistics = [Statistic<"numFused", "fused", "elementwise ops put into regions">];
}

def Recompute : Pass<"hybrid-recompute", "::mlir::func::FuncOp"> {
  let summary = "compute values again in the backward pass rather than keep them";
  let description = [{
    On `@train` and `@vjp`, after fusion: while more than `budget` bytes of activations are alive at once, gives up the value whose memory, times how
    long it is needed there, is the most for the work of computing it again (`CostOp`: its FLOPs, or the bytes it moves), and runs its op once more right
    before it is read again. What that op reads comes from what is still alive, or is run again too: at small budgets whole layers are. Where nothing
    more helps, the result is the smallest that was met.

    Each such op is marked with the number of the time that it runs, which also keeps it apart from the first. All results have the same bits.

    ```mlir
    %n = hybrid.rmsnorm %x, %w                      // before: kept from the forward part
    %u = hybrid.linear %n, %w1
    ...
    %dw = hybrid.matmul %du, %n {transpose_a}

    %n = hybrid.rmsnorm %x, %w                      // after
    %u = hybrid.linear %n, %w1
    ...
    %m = hybrid.rmsnorm %x, %w {hybrid.recomputed = 1}
    %dw = hybrid.matmul %du, %m {transpose_a}
    ```
  }];
  let options = [
    Option<"budget", "budget", "int64_t", "-1", "bytes of activations to stay within; 0: as few as can be, -1: do nothing">
  ];
  let statistics = [Statistic<"numRecomputed", "recomputed", "ops that run once more">];
}

def TileRows : Pass<"hybrid-tile-rows", "::mlir::func::FuncOp"> {
  let summary = "run neighbours that work row by row tile of rows by tile of rows";
  let description = [{
    Connected row-wise ops (projections, norms, their gradients, elementwise regions) become one `hybrid.row_tiles`: norm and residual go into
    their neighbours, bias and activation into the products they follow, and values in between stay in cache. A region that sums over rows, as the
    gradient of a weight does, takes its tiles one after another, and what is summed is never whole in memory. Where there is no cache to stay in,
    `least-bytes` leaves only the last use: logits over a large vocabulary are never whole.
  }];
  let options = [
    Option<"minRows", "min-rows", "int64_t", "512", "fewer rows are not cut into tiles">,
    Option<"maxTile", "max-tile", "int64_t", "256", "rows at most of tiles that run in parallel">,
    Option<"maxSequentialTile", "max-sequential-tile", "int64_t", "1024", "rows at most of tiles that follow one another">,
    Option<"parallelBytes", "parallel-bytes", "int64_t", "1 << 20",
           "bytes at most of one value in a tile of those that run in parallel: a part of the second-level cache of a core">,
    Option<"sequentialBytes", "sequential-bytes", "int64_t", "8 << 20",
           "bytes at most of one value in a tile of those that follow one another: a part of the last level">,
    Option<"leastBytes", "least-bytes", "int64_t", "0", "regions none of whose values would have this many bytes are left whole">
  ];
  let statistics = [Statistic<"numRegions", "regions", "regions made">];
}

def Ensemble : Pass<"hybrid-ensemble", "::mlir::ModuleOp"> {
  let summary = "make several independent trainings one program";
  let description = [{
    Runs on a scheduled module. Each of `replicas` replicas has its own parameters, gradients, moments, inputs and outputs, so that runs of one
    model that differ in seed, data, learning rate or weight decay train together. Programs stay those of one replica: the module says how many
    there are, and how far apart the memory of two of them is in each space. Kernels for a GPU are launched for all replicas at once; a
    CPU runs one replica after another, with the bits of a run alone.

    ```mlir
    module attributes {schedule.parameter_bytes = 320 : i64} {           // before
      schedule.program @forward arena 1000 inputs [...] outputs [...] {...}
    }
    module attributes {schedule.parameter_bytes = 320 : i64,             // after, replicas=6
                       schedule.replicas = #schedule.replicas<6, arena 1024, parameters 512, tile 0>} {
      schedule.program @forward arena 1000 inputs [...] outputs [...] {...}
    }
    ```
  }];
  let options = [
    Option<"replicas", "replicas", "int64_t", "1", "trainings that run as one, at most 1024; 1: nothing changes">
  ];
}
#endif
