# Call after every program is known. Writes what ./dev reads: test-programs.txt, a path for each
# test program, and programs.txt, `name path` for each program that ./dev runs by name. The target
# `tests` builds them without the measurements.

get_property(test_programs GLOBAL PROPERTY fairlead_test_programs)
set(test_lines "")
foreach(program ${test_programs})
  string(APPEND test_lines "$<TARGET_FILE:${program}>\n")
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/test-programs.txt CONTENT "${test_lines}")

set(program_lines "")
add_custom_target(tests)
if(test_programs)
  add_dependencies(tests ${test_programs})
endif()
foreach(program sim crash bench)
  if(TARGET ${program})
    string(APPEND program_lines "${program} $<TARGET_FILE:${program}>\n")
    if(NOT program STREQUAL "bench")
      add_dependencies(tests ${program})
    endif()
  endif()
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/programs.txt CONTENT "${program_lines}")
