# Call after every program is known. Writes what ./dev reads: test-programs.txt, a path for each
# test program, and programs.txt, `name path` for each program that ./dev runs by name. The target
# `tests` builds them without the measurements.

get_property(test_programs GLOBAL PROPERTY fairlead_test_programs)
set(programs sim crash chaos bench fairlead)
# A build that looks for races is many times slower: it leaves out whole clusters, whose promises are
# measured in seconds, the simulator, which runs in one thread, and stories, whose only threads are
# those of the stores and are looked at in the stores' own tests.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  list(REMOVE_ITEM programs sim)
  list(REMOVE_ITEM test_programs behaviour_tests cap_tests chaos_tests cli_program_tests cluster_tests
       crash_tests edge_clients_tests mixed_tests)
endif()
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
foreach(program ${programs})
  if(TARGET ${program})
    string(APPEND program_lines "${program} $<TARGET_FILE:${program}>\n")
    if(NOT program MATCHES "bench|crash|chaos")
      add_dependencies(tests ${program})
    endif()
  endif()
endforeach()
foreach(program nats_fuzz resp_fuzz http_fuzz packet_fuzz yaml_fuzz)
  if(TARGET ${program})
    string(APPEND program_lines "${program} $<TARGET_FILE:${program}>\n")
  endif()
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/programs.txt CONTENT "${program_lines}")
