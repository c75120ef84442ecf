# LLVM and MLIR 22 from Debian, TableGen, and the precompiled header that every compiler library reuses: MLIR's headers and
# the graph dialect's, of which nearly every file has use.
find_program(HYBRID_LLVM_CONFIG NAMES llvm-config-22 llvm-config REQUIRED)
execute_process(COMMAND ${HYBRID_LLVM_CONFIG} --prefix OUTPUT_VARIABLE HYBRID_LLVM_PREFIX
                OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(MLIR 22.1 REQUIRED CONFIG HINTS ${HYBRID_LLVM_PREFIX}/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(HYBRID_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${HYBRID_LLVM_DEFINITIONS})
# LLVM's headers declare other classes for debugging than for release (llvm::Statistic, a field of our passes):
# what includes them must see those that the library was built with, in every build type of ours.
if(NOT LLVM_ENABLE_ASSERTIONS)
  add_compile_definitions(NDEBUG)
endif()

# tablegen(HYBRID ...) runs our own generators (tools/tablegen).
set(HYBRID_TABLEGEN_EXE $<TARGET_FILE:hybrid-tblgen>)
set(HYBRID_TABLEGEN_TARGET hybrid-tblgen)

# Nearly all of the time of a compilation passes in LLVM's libraries.
set(HYBRID_COMPILER_OPTIONS $<$<CONFIG:Release>:-O2>)
add_library(HybridPCH OBJECT ${PROJECT_SOURCE_DIR}/cmake/HybridPCH.cpp)
target_precompile_headers(HybridPCH PRIVATE
  <mlir/IR/Builders.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/BuiltinOps.h> <mlir/IR/PatternMatch.h>
  <mlir/IR/OpImplementation.h> <mlir/Pass/Pass.h> <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Transforms/GreedyPatternRewriteDriver.h> <llvm/ADT/MapVector.h> ${PROJECT_SOURCE_DIR}/dialect/HybridOps.h)
add_dependencies(HybridPCH HybridDialectIncGen)
target_compile_options(HybridPCH PRIVATE ${HYBRID_COMPILER_OPTIONS} ${HYBRID_PCH_OPTIONS} -Wall -Wextra -Werror
  -Wno-unused-parameter -Wno-error=deprecated-declarations)

# A compiler library: our warnings, the shared precompiled header, generated headers first.
function(hybrid_compiler_library name)
  add_library(${name} STATIC ${ARGN})
  hybrid_warnings(${name})
  target_compile_options(${name} PRIVATE ${HYBRID_COMPILER_OPTIONS} ${HYBRID_PCH_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM HybridPCH)
  add_dependencies(${name} HybridDialectIncGen HybridScheduleIncGen HybridPassesIncGen HybridSchedulePassesIncGen)
endfunction()

# What the compiler links of LLVM and MLIR: the distribution's shared libraries, or what it needs of the static ones.
option(HYBRID_STATIC_LLVM "Put LLVM and MLIR into hybridc, for this machine's kind of CPU (what the wheel carries)" OFF)
add_library(HybridLLVM INTERFACE)
if(HYBRID_STATIC_LLVM)
  file(GLOB archives ${HYBRID_LLVM_PREFIX}/lib/libMLIR*.a ${HYBRID_LLVM_PREFIX}/lib/libLLVM*.a)
  list(FILTER archives EXCLUDE REGEX "Test|TableGen")
  target_link_libraries(HybridLLVM INTERFACE ${archives} z zstd)
  target_link_options(HybridLLVM INTERFACE -Wl,--gc-sections)
else()
  target_link_libraries(HybridLLVM INTERFACE MLIR LLVM)
endif()

# A tool of the compiler. No precompiled header: executables are built as PIE, libraries as PIC.
function(hybrid_compiler_tool name)
  add_executable(${name} ${ARGN})
  hybrid_warnings(${name})
  target_compile_options(${name} PRIVATE ${HYBRID_COMPILER_OPTIONS})
  add_dependencies(${name} HybridDialectIncGen HybridScheduleIncGen HybridPassesIncGen HybridSchedulePassesIncGen)
endfunction()
