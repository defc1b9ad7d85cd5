# The headers that nearly every source reads, compiled once per kind of target instead of once per
# source, which took half of a clean build. Sources still include what they use: tools/lint compiles
# every header without these.

option(KEELSON_PRECOMPILE "Compile the common headers once" ON)

set(KEELSON_COMMON_HEADERS
    <algorithm> <array> <atomic> <chrono> <coroutine> <cstdint> <expected> <functional> <map> <memory>
    <mutex> <optional> <set> <span> <stop_token> <string> <string_view> <unordered_map> <utility>
    <variant> <vector> <fmt/format.h>)
set(KEELSON_COMMON_TEST_HEADERS ${KEELSON_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
# What everything that knows about resources reads.
set(KEELSON_RESOURCE_HEADER ${CMAKE_SOURCE_DIR}/src/rest/resource.h)

# Test code is compiled often and runs briefly.
set(KEELSON_TEST_OPTIONS $<$<CONFIG:RelWithDebInfo>:-O0>)

if(KEELSON_PRECOMPILE)
  # Without its time in the compiled header, objects made with it can be found in ccache again.
  add_compile_options(-pthread "SHELL:-Xclang -fno-pch-timestamp")
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cc "int main() { return 0; }\n")
endif()

# keelson_precompiled_headers(<target> <headers>): a target others start from.
function(keelson_precompiled_headers target)
  add_library(${target} STATIC ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# keelson_precompile(<target> [TEST] [RESOURCES]): lets a target's sources start from the compiled
# headers, those of tests or of code about resources.
function(keelson_precompile target)
  if(NOT KEELSON_PRECOMPILE)
    return()
  endif()
  set(from keelson_precompiled)
  set(headers ${KEELSON_COMMON_HEADERS})
  if("TEST" IN_LIST ARGN)
    set(from ${from}_test)
    set(headers ${KEELSON_COMMON_TEST_HEADERS})
  endif()
  if("RESOURCES" IN_LIST ARGN)
    set(from ${from}_resources)
    list(APPEND headers ${KEELSON_RESOURCE_HEADER})
  endif()
  if(NOT TARGET ${from})
    keelson_precompiled_headers(${from} ${headers})
    if("TEST" IN_LIST ARGN)
      target_link_libraries(${from} PRIVATE GTest::gmock)
      target_compile_options(${from} PRIVATE ${KEELSON_TEST_OPTIONS})
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${from})
endfunction()
