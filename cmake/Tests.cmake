# Tests. They are not part of `all`: build the target build_tests, then run ctest (`make check` does
# both). Every program added under tests/ becomes part of build_tests by itself.
find_package(PkgConfig)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
endif()
if(NOT CMOCKA_FOUND)
  message(STATUS "cmocka was not found: unit and API tests cannot be built (make deps installs it)")
endif()
set(DN_TEST_DIR ${CMAKE_BINARY_DIR}/tests)

# dn_add_test(<name> <sources>... [LIBS <libraries>...] [ARGS <arguments>...])
# A cmocka program that sees the inside: it links the core's objects, not the shared library.
# Sources of the API may be named too; they are compiled for DN_ABI 8.
function(dn_add_test name)
  cmake_parse_arguments(arg "" "" "LIBS;ARGS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE dn_core_static PkgConfig::CMOCKA ${arg_LIBS})
  target_compile_definitions(${name} PRIVATE DN_ABI=8 ANYDNN_NO_DEPRECATED ANYDNN_NO_CUDA_HEADERS
                             DN_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ANYDNN_VERSION="${PROJECT_VERSION}")
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include/v8 ${CMAKE_CURRENT_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${DN_TEST_DIR})
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
endfunction()

# dn_add_api_test(<name> <sources>... [LIBS <libraries>...] [ARGS <arguments>...])
# One cmocka program per ABI (<name>_v8, <name>_v9) that links nothing of ours: it opens the library
# whose path is its first argument (else the variable CUDNN_LIB), so that it runs on any library.
function(dn_add_api_test name)
  cmake_parse_arguments(arg "" "" "LIBS;ARGS" ${ARGN})
  foreach(abi 8 9)
    set(target ${name}_v${abi})
    add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${target} PRIVATE dn_flags PkgConfig::CMOCKA ${arg_LIBS})
    target_compile_definitions(${target} PRIVATE DN_ABI=${abi} ANYDNN_NO_DEPRECATED ANYDNN_NO_CUDA_HEADERS
                               DN_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ANYDNN_VERSION="${PROJECT_VERSION}")
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/include/v${abi} ${CMAKE_SOURCE_DIR}/include
                               ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${DN_TEST_DIR})
    add_dependencies(${target} cudnn${abi})
    add_test(NAME ${target} COMMAND ${target} $<TARGET_FILE:cudnn${abi}> ${arg_ARGS})
    set_tests_properties(${target} PROPERTIES ENVIRONMENT "CUDNN_LIB=$<TARGET_FILE:cudnn${abi}>")
  endforeach()
endfunction()

# Collects into <out> every target that can be built in <dir> and below.
function(dn_targets_below dir out)
  get_property(all DIRECTORY ${dir} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(subdirs DIRECTORY ${dir} PROPERTY SUBDIRECTORIES)
  foreach(subdir IN LISTS subdirs)
    dn_targets_below(${subdir} below)
    list(APPEND all ${below})
  endforeach()
  set(${out} ${all} PARENT_SCOPE)
endfunction()

function(dn_finish_tests)
  dn_targets_below(${CMAKE_SOURCE_DIR}/tests tests)
  add_custom_target(build_tests)
  add_dependencies(build_tests ${DN_PRODUCTS_8} ${DN_PRODUCTS_9} ${tests})
  if(TARGET dnbench)
    add_dependencies(build_tests dnbench)
  endif()
endfunction()
