// Compiled only to build the precompiled header of MLIR headers.
