# keelson_module(NAME <module>
#   SOURCES <files>    library sources; empty makes a header-only module
#   HEADERS <files>    public headers, installed under include/keelson/<module>
#   TESTS   <files>    *_test.cc, linked into one <module>_test program; each case is one ctest test
#   BENCHES <files>    *_bench.cc, linked into one <module>_bench program (Google Benchmark)
#   FUZZERS <files>    *_fuzz.cc, one libFuzzer program each; without KEELSON_FUZZ a program that
#                      replays the committed corpus <file without _fuzz.cc>_corpus/ as a test
#   DEPS    <modules>  modules this one may include, all from lower layers
#   LIBS    <targets>  outside libraries, private to the sources
#   PUBLIC_LIBS <targets>  outside libraries whose headers appear in this module's headers
#   TEST_LIBS <targets> outside libraries or modules only the tests need)
function(keelson_module)
  cmake_parse_arguments(M "" "NAME" "SOURCES;HEADERS;TESTS;BENCHES;FUZZERS;DEPS;LIBS;PUBLIC_LIBS;TEST_LIBS" ${ARGN})
  set(target keelson_${M_NAME})
  list(TRANSFORM M_DEPS PREPEND keelson_)

  if(M_SOURCES)
    add_library(${target} STATIC ${M_SOURCES})
    target_link_libraries(${target} PUBLIC ${M_DEPS} ${M_PUBLIC_LIBS} PRIVATE ${M_LIBS})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
                                                $<INSTALL_INTERFACE:include/keelson>)
    keelson_precompile(${target})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${M_DEPS} ${M_PUBLIC_LIBS})
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
                                                   $<INSTALL_INTERFACE:include/keelson>)
  endif()
  add_library(keelson::${M_NAME} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY KEELSON_MODULES ${M_NAME})
  set_property(TARGET ${target} PROPERTY KEELSON_HEADERS ${M_HEADERS})

  if(M_TESTS)
    add_executable(${M_NAME}_test ${M_TESTS})
    target_link_libraries(${M_NAME}_test PRIVATE ${target} ${M_LIBS} ${M_TEST_LIBS} GTest::gmock GTest::gtest_main)
    keelson_precompile(${M_NAME}_test TEST)
    include(GoogleTest)
    gtest_discover_tests(${M_NAME}_test DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300 LABELS ${M_NAME})
  endif()
  if(M_BENCHES)
    find_package(benchmark REQUIRED)
    add_executable(${M_NAME}_bench ${M_BENCHES})
    target_link_libraries(${M_NAME}_bench PRIVATE ${target} ${M_LIBS} ${M_TEST_LIBS} benchmark::benchmark benchmark::benchmark_main)
    keelson_use_allocator(${M_NAME}_bench)
    set_target_properties(${M_NAME}_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${KEELSON_BIN_DIR}/bench)
  endif()
  foreach(fuzzer ${M_FUZZERS})
    get_filename_component(name ${fuzzer} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" stem ${name})
    set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/${stem}_corpus)
    set(program ${M_NAME}_${name})
    if(KEELSON_FUZZ)
      add_executable(${program} ${fuzzer})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    else()
      add_executable(${program} ${fuzzer} ${CMAKE_SOURCE_DIR}/tools/fuzz_replay.cc)
      add_test(NAME ${program}_corpus COMMAND ${program} ${corpus})
    endif()
    target_link_libraries(${program} PRIVATE ${target} ${M_LIBS} ${M_TEST_LIBS})
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${KEELSON_BIN_DIR}/fuzz)
  endforeach()
endfunction()

set(KEELSON_ALLOCATOR jemalloc CACHE STRING "Memory allocator of programs: jemalloc, mimalloc or glibc")

# Gives a program the chosen allocator (figures: src/profile/README.md), except under sanitizers,
# which bring their own allocation. Benchmarks get it, too: their figures are those of the programs.
function(keelson_use_allocator target)
  if(KEELSON_SANITIZE OR KEELSON_ALLOCATOR STREQUAL "glibc")
    return()
  elseif(KEELSON_ALLOCATOR STREQUAL "jemalloc")
    find_library(JEMALLOC_LIBRARY NAMES libjemalloc_pic.a jemalloc REQUIRED)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:keelson_jemalloc_settings>)
    target_link_libraries(${target} PRIVATE ${JEMALLOC_LIBRARY} ${CMAKE_DL_LIBS})
  elseif(KEELSON_ALLOCATOR STREQUAL "mimalloc")
    find_package(mimalloc REQUIRED)
    target_link_libraries(${target} PRIVATE mimalloc)
  else()
    message(FATAL_ERROR "KEELSON_ALLOCATOR: ${KEELSON_ALLOCATOR} is not known")
  endif()
endfunction()

# keelson_app(NAME <program> SOURCES <files> DEPS <modules> LIBS <targets>)
# A program gets the chosen allocator and, except under sanitizers, heap sampling.
function(keelson_app)
  cmake_parse_arguments(A "" "NAME" "SOURCES;DEPS;LIBS" ${ARGN})
  list(TRANSFORM A_DEPS PREPEND keelson_)
  add_executable(${A_NAME} ${A_SOURCES})
  target_include_directories(${A_NAME} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${A_NAME} PRIVATE ${A_DEPS} ${A_LIBS})
  if(NOT KEELSON_SANITIZE)
    target_sources(${A_NAME} PRIVATE $<TARGET_OBJECTS:keelson_heap_hooks>)
    target_link_libraries(${A_NAME} PRIVATE keelson_profile)
  endif()
  keelson_use_allocator(${A_NAME})
  set_target_properties(${A_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${KEELSON_BIN_DIR})
endfunction()
