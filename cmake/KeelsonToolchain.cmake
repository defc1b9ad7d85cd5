# Compiler, linker and sanitizer settings shared by every target.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# Programs as well as libraries, so that they can share compiled headers.
add_compile_options(-fPIC)

set(KEELSON_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
option(KEELSON_FUZZ "Build the libFuzzer targets" OFF)
set(KEELSON_BIN_DIR ${CMAKE_BINARY_DIR}/bin CACHE PATH "Where programs are put")

# Objects are shared between checkouts: paths are hashed relative to the source folder. What an object
# depends on is read from the compiler's own list, which saves preprocessing each source twice.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wno-unused-parameter
                    -Wno-missing-field-initializers -fno-omit-frame-pointer -fcolor-diagnostics)
add_link_options(-fuse-ld=lld)

# Assertions stay on in release builds: a broken invariant must abort, never corrupt.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1 -D_GLIBCXX_ASSERTIONS")

if(KEELSON_SANITIZE)
  add_compile_options(-fsanitize=${KEELSON_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KEELSON_SANITIZE})
  # std::function and friends confuse the vptr check across shared libraries built without RTTI.
  if(KEELSON_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr,function)
    add_link_options(-fno-sanitize=vptr,function)
  endif()
endif()
if(KEELSON_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
