//===- TransformOps.td - transforms of the runtime's library ----*- tablegen -*-===//
#ifndef TRANSFORM_OPS_TD
#define TRANSFORM_OPS_TD
include "dialect/schedule/ScheduleBase.td"

def Schedule_LibraryFftOp : Schedule_Step<"library_fft"> {
  let summary = "Fourier transforms of the runtime's transform library";
  let description = [{
    Of `signals` columns side by side. `buffers`: real numbers [points, signals], and their spectrum [points/2 + 1, signals, 2], re and im beside each
    other. Forward, the spectrum becomes `X_k = Σ_t x_t e^(-2πikt/points)`; with `inverse`, the real numbers become `x_t = Σ_k X_k e^(2πikt/points)`
    over all bins, of which the half that is not there is the conjugate of the other; the imaginary parts of bin 0 and of bin points/2 are 0, and what the spectrum holds then is
    not known.

    - C1: there are 2 buffers
    - C2: points and signals are positive
    - C3: element_type is f32 or f64
    - C4: there are operands, or buffers, but not both
    - C5: operands lie densely, with points · signals and (points/2 + 1) · signals · 2 elements of element_type

    ```mlir
    schedule.program @forward arena 8192 inputs [] outputs [] {
      schedule.library_fft 15 points x 4 of f32 for "rfft" buffers [#schedule.buffer<arena, 0, 240>, #schedule.buffer<arena, 256, 256>]
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers, I64Attr:$points, I64Attr:$signals,
                       UnitAttr:$inverse, TypeAttr:$element_type, StrAttr:$source);
  let assemblyFormat = [{ $points `points` `x` $signals `of` $element_type `for` $source (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict }];
  let hasVerifier = 1;
}
#endif
