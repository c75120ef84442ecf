# Language level, warnings, ccache, sanitizers and output folders shared by every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(HYBRID_CCACHE ccache)
if(HYBRID_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${HYBRID_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HYBRID_CCACHE})
endif()

add_compile_options(-fno-exceptions)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=lld)
endif()
if(HYBRID_SANITIZE)
  # Of the function that a call reaches the check `function` reads the words in front of it. Machine code of an executable
  # has none there, and may begin a page behind one that is not mapped.
  add_compile_options(-fsanitize=${HYBRID_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  add_link_options(-fsanitize=${HYBRID_SANITIZE})
endif()

# Warnings are errors for our own code only; call it on every target of ours.
function(hybrid_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter
                                           -Wno-error=deprecated-declarations)
endfunction()
# For all that takes part in a precompiled header: without its time, so that ccache knows it again.
set(HYBRID_PCH_OPTIONS)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(HYBRID_PCH_OPTIONS "SHELL:-Xclang -fno-pch-timestamp")
endif()
# Options of libraries that know no compiler, and of their precompiled header; fuzzers see which of their branches they reach.
function(hybrid_runtime_options target)
  hybrid_warnings(${target})
  target_compile_options(${target} PRIVATE ${HYBRID_PCH_OPTIONS})
  if(HYBRID_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()
# A library that knows no compiler. Those above the format share a precompiled header, HybridRuntimePCH.
function(hybrid_runtime_library name)
  add_library(${name} STATIC ${ARGN})
  hybrid_runtime_options(${name})
  if(TARGET HybridRuntimePCH)
    target_precompile_headers(${name} REUSE_FROM HybridRuntimePCH)
  endif()
endfunction()
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
