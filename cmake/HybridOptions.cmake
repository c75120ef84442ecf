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
  add_compile_options(-fsanitize=${HYBRID_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HYBRID_SANITIZE})
endif()

# Warnings are errors for our own code only; call it on every target of ours.
function(hybrid_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter
                                           -Wno-error=deprecated-declarations)
endfunction()
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
