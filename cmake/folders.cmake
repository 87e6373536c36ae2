# fairlead_folder(NAME DIR [ONE_THREAD] USES <targets>... [TESTS_USE <targets>...])
#
# Makes the library fairlead_NAME of the sources in DIR, the test program NAME_tests of the
# *_test.cc beside them, and a program for every main_*.cc. A folder with only headers makes an
# interface library. Subfolders are folders of their own. ONE_THREAD: the folder knows no
# threads, so a build that looks for races leaves its tests out.

add_library(fairlead_warnings INTERFACE)
target_compile_options(fairlead_warnings INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  -Wswitch-enum -Wno-missing-designated-field-initializers)
# What the precompiled headers were told, everybody must be told.
target_link_libraries(fairlead_warnings INTERFACE Boost::json)

# Headers that are compiled once for all folders, and once for all tests.
add_library(fairlead_precompiled OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cc)
target_link_libraries(fairlead_precompiled PRIVATE
  fairlead_warnings fmt::fmt fairlead_proto)
target_precompile_headers(fairlead_precompiled PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled.h)
add_library(fairlead_precompiled_tests OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cc)
target_link_libraries(fairlead_precompiled_tests PRIVATE
  fairlead_warnings fmt::fmt fairlead_proto GTest::gmock)
target_precompile_headers(fairlead_precompiled_tests PRIVATE
  ${CMAKE_SOURCE_DIR}/cmake/precompiled_tests.h)

# Builds that are made anew compile several sources of a folder as one (CMAKE_UNITY_BUILD). These
# use a name that another source of their folder uses too, each for itself.
set_source_files_properties(
  src/app/settings.cc src/bus/nats/nats_faults_test.cc src/bus/nats/nkey_test.cc
  src/bus/nats/recovery_test.cc src/bus/nats/replies_test.cc
  src/cli/fleet_verbs.cc src/cli/server_verbs.cc src/edge/http/api/pool_book_codec.cc
  src/edge/http/api/workers.cc src/edge/http/connection_stream.cc src/edge/http/stream_test.cc
  src/edge/resp/verbs.cc src/job/peek_test.cc src/store/redis/client/link.cc
  src/store/rocksdb/log_damage.cc src/store/rocksdb/puts.cc src/worker/link.cc
  src/worker/nats_client.cc src/worker/worker.cc
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

function(fairlead_folder name dir)
  cmake_parse_arguments(arg "ONE_THREAD" "" "USES;TESTS_USE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${dir}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(programs ${sources})
  list(FILTER programs INCLUDE REGEX "/main_[^/]*\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test\\.cc|/main_[^/]*\\.cc)$")

  if(sources)
    add_library(fairlead_${name} STATIC ${sources})
    target_include_directories(fairlead_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
    target_link_libraries(fairlead_${name} PUBLIC ${arg_USES} PRIVATE fairlead_warnings)
    target_precompile_headers(fairlead_${name} REUSE_FROM fairlead_precompiled)
  else()
    add_library(fairlead_${name} INTERFACE)
    target_include_directories(fairlead_${name} INTERFACE
      ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
    target_link_libraries(fairlead_${name} INTERFACE ${arg_USES})
  endif()

  foreach(program ${programs})
    get_filename_component(program_name ${program} NAME_WE)
    string(REGEX REPLACE "^main_" "" program_name ${program_name})
    add_executable(${program_name} ${program})
    target_link_libraries(${program_name} PRIVATE fairlead_${name} fairlead_warnings)
  endforeach()

  if(arg_ONE_THREAD AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
    set(tests "")
  endif()
  if(tests)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE
      fairlead_${name} ${arg_TESTS_USE} fairlead_warnings GTest::gmock GTest::gtest_main)
    target_precompile_headers(${name}_tests REUSE_FROM fairlead_precompiled_tests)
    set_property(GLOBAL APPEND PROPERTY fairlead_test_programs ${name}_tests)
  endif()
endfunction()
