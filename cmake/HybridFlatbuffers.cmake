# The executable format: one generated header, shared by its writer (codegen) and its reader (runtime).
find_program(HYBRID_FLATC flatc REQUIRED)
set(HYBRID_EXECUTABLE_HEADER ${PROJECT_BINARY_DIR}/codegen/Executable_generated.h)
add_custom_command(
  OUTPUT ${HYBRID_EXECUTABLE_HEADER}
  COMMAND ${HYBRID_FLATC} --cpp --cpp-std c++17 --scoped-enums -o ${PROJECT_BINARY_DIR}/codegen
          ${PROJECT_SOURCE_DIR}/codegen/Executable.fbs
  DEPENDS ${PROJECT_SOURCE_DIR}/codegen/Executable.fbs
  VERBATIM)
add_custom_target(HybridExecutableFormat DEPENDS ${HYBRID_EXECUTABLE_HEADER})
