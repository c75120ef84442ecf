# Manual pages and completion for shells, which the programs write themselves, of what their command lines know. With
# hybrid-lsp they are the component `editor` of an installation, which the wheel leaves out.
set(manual_programs hybrid-run)
if(HYBRID_BUILD_COMPILER)
  list(APPEND manual_programs hybridc hybrid-lsp)
endif()
set(manual_files)
function(hybrid_manual program kind folder file)
  set(path ${CMAKE_BINARY_DIR}/share/${folder}/${file})
  add_custom_command(
    OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/share/${folder}
    COMMAND ${program} --manual=${kind} > ${path}
    DEPENDS ${program}
    COMMENT "Writing ${file}"
    VERBATIM)
  install(FILES ${path} DESTINATION share/${folder} COMPONENT editor)
  set(manual_files ${manual_files} ${path} PARENT_SCOPE)
endfunction()
foreach(program ${manual_programs})
  hybrid_manual(${program} man man/man1 ${program}.1)
  hybrid_manual(${program} bash bash-completion/completions ${program})
  hybrid_manual(${program} zsh zsh/site-functions _${program})
endforeach()
add_custom_target(manuals ALL DEPENDS ${manual_files})
