# The outside headers that nearly every source reads, compiled once per kind of target. Reading them
# again for each file was a third of a clean build. Sources still include what they use: tools/lint
# compiles without these.

# Off by default: a compiled header differs between checkouts, so they would no longer share ccache.
option(KEELSON_PRECOMPILE "Compile the common outside headers once" OFF)

set(KEELSON_COMMON_HEADERS
    <algorithm> <array> <atomic> <chrono> <coroutine> <cstdint> <expected> <functional> <map> <memory>
    <mutex> <optional> <set> <span> <stop_token> <string> <string_view> <unordered_map> <utility>
    <variant> <vector> <fmt/format.h>)

if(KEELSON_PRECOMPILE)
  # Without its time in the compiled header, objects made with it can be found in ccache again.
  add_compile_options(-pthread "SHELL:-Xclang -fno-pch-timestamp")
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cc "int main() { return 0; }\n")
  add_library(keelson_precompiled STATIC ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(keelson_precompiled PRIVATE fmt::fmt)
  target_precompile_headers(keelson_precompiled PRIVATE ${KEELSON_COMMON_HEADERS})
  add_executable(keelson_precompiled_test EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(keelson_precompiled_test PRIVATE fmt::fmt GTest::gmock)
  target_precompile_headers(keelson_precompiled_test PRIVATE ${KEELSON_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
endif()

# keelson_precompile(<target> [TEST]): lets a target's sources start from the compiled headers.
function(keelson_precompile target)
  if(NOT KEELSON_PRECOMPILE)
    return()
  endif()
  if("TEST" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM keelson_precompiled_test)
  else()
    target_precompile_headers(${target} REUSE_FROM keelson_precompiled)
  endif()
endfunction()
