# The program `fairlead`, which knows every part, and what it says of its own build.
fairlead_folder(app src/app USES fairlead_edge_http fairlead_edge_metrics fairlead_edge_nats
                fairlead_edge_resp fairlead_store_rocksdb fairlead_store_redis fairlead_bus_local
                fairlead_bus_nats fairlead_gate_kernel fairlead_worker
                fairlead_cli yaml-cpp Boost::json TESTS_USE fairlead_store_memory
                cluster_servers)

set(fairlead_commit unknown)
set(fairlead_commit_date unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} log -1 --format=%h\ %cs WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE git_log ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(git_log MATCHES "^([0-9a-f]+) ([0-9-]+)$")
    set(fairlead_commit ${CMAKE_MATCH_1})
    set(fairlead_commit_date ${CMAKE_MATCH_2})
  endif()
endif()
set_source_files_properties(src/app/build_info.cc PROPERTIES COMPILE_DEFINITIONS
  "FAIRLEAD_VERSION=\"${PROJECT_VERSION}\";FAIRLEAD_COMMIT=\"${fairlead_commit}\";FAIRLEAD_COMMIT_DATE=\"${fairlead_commit_date}\"")

# A server makes and frees small things all day. Sanitizers bring their own allocator.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  find_package(mimalloc REQUIRED)
  target_link_libraries(fairlead PRIVATE mimalloc)
endif()
