# keelson_api(NAME <target>
#   FILES       <files>   API files (docs/api-format.md) to compile, and those they refer to; the
#                         order is that of the catalog's group-versions
#   NAMESPACE   <name>    of the generated code, default keelson::api
#   INCLUDE_DIR <folder>  headers are included as "<folder>/core_v1.h", default api)
# Makes a static library of constant tables and typed accessors. Works from any project that has
# the apigen program and keelson_schema.
function(keelson_api)
  cmake_parse_arguments(A "" "NAME;NAMESPACE;INCLUDE_DIR" "FILES" ${ARGN})
  if(NOT A_NAMESPACE)
    set(A_NAMESPACE keelson::api)
  endif()
  if(NOT A_INCLUDE_DIR)
    set(A_INCLUDE_DIR api)
  endif()
  set(root ${CMAKE_CURRENT_BINARY_DIR}/${A_NAME}_generated)
  set(folder ${root}/${A_INCLUDE_DIR})
  set(headers ${folder}/catalog.h)
  set(inputs)
  foreach(file ${A_FILES})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET file STEM LAST_ONLY name)
    string(REGEX REPLACE "[.-]" "_" name ${name})
    list(APPEND inputs ${file})
    list(APPEND headers ${folder}/${name}.h)
  endforeach()
  add_custom_command(
    OUTPUT ${folder}/tables.cc ${headers}
    COMMAND apigen --namespace ${A_NAMESPACE} --include-dir ${A_INCLUDE_DIR} --out ${root} ${inputs}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/tables.cc
    DEPENDS apigen ${inputs}
    COMMENT "Compiling API files for ${A_NAME}"
    VERBATIM)
  add_library(${A_NAME} STATIC ${folder}/tables.cc ${headers})
  target_include_directories(${A_NAME} PUBLIC ${root})
  target_link_libraries(${A_NAME} PUBLIC keelson_schema)
endfunction()
