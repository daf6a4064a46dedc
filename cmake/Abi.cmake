# The products: for each ABI libcudnn.so.N and its forwarders, in build/lib, and its headers, in
# build/include/vN.
#
# File names carry the full version (libcudnn.so.8.9.7), the SONAME the major one. CMake's VERSION
# and SOVERSION properties would make the bare libcudnn.so twice, once per ABI, so the names are
# spelled here and the links made after each link step. The bare libcudnn.so of the build tree
# belongs to 8.
set(DN_LIB_DIR ${CMAKE_BINARY_DIR}/lib)
set(DN_GEN_DIR ${CMAKE_BINARY_DIR}/gen)
file(MAKE_DIRECTORY ${DN_LIB_DIR} ${DN_GEN_DIR})
set(DN_FUNCTIONS_DEF ${CMAKE_SOURCE_DIR}/src/api/functions.def)

set(DN_VERSION_8 8.9.7)
set(DN_VERSION_9 9.19.0)
set(DN_SUBS_8 ops_infer ops_train cnn_infer cnn_train adv_infer adv_train)
set(DN_SUBS_9 graph ops cnn adv engines_precompiled engines_runtime_compiled heuristic)

# exports writes version scripts, forwarder code and ELF notes from functions.def.
add_executable(dn_exports ${CMAKE_SOURCE_DIR}/tools/exports.c)
target_link_libraries(dn_exports PRIVATE dn_flags)
target_include_directories(dn_exports PRIVATE ${CMAKE_SOURCE_DIR}/src)
set_target_properties(dn_exports PROPERTIES OUTPUT_NAME exports RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tools)
set_source_files_properties(${CMAKE_SOURCE_DIR}/tools/exports.c PROPERTIES OBJECT_DEPENDS ${DN_FUNCTIONS_DEF})

# dn_generate(<file> <words of the exports command>...)
function(dn_generate out)
  add_custom_command(OUTPUT ${out} COMMAND dn_exports ${ARGN} ${out}
                     DEPENDS dn_exports ${DN_FUNCTIONS_DEF} VERBATIM)
endfunction()

# dn_shared(<target> <name> <abi> <version script> <sources>...): lib<name>.so.<full version>
function(dn_shared target name abi map)
  set(version ${DN_VERSION_${abi}})
  add_library(${target} SHARED ${ARGN})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} SUFFIX ".so.${version}" NO_SONAME ON LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${DN_LIB_DIR} LINK_DEPENDS ${map}
    BUILD_WITH_INSTALL_RPATH ON) # no build path in the file; what a forwarder needs is set below
  target_link_options(${target} PRIVATE
    "LINKER:-soname,lib${name}.so.${abi}" "LINKER:--version-script,${map}"
    LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack LINKER:--build-id=sha1 LINKER:--hash-style=gnu)
  if(NOT ANYDNN_SANITIZE)
    target_link_options(${target} PRIVATE LINKER:-z,defs) # clang leaves its sanitizer run time undefined
  endif()
  set(links COMMAND ${CMAKE_COMMAND} -E create_symlink lib${name}.so.${version} lib${name}.so.${abi})
  if(NOT (name STREQUAL "cudnn" AND abi EQUAL 9))
    list(APPEND links COMMAND ${CMAKE_COMMAND} -E create_symlink lib${name}.so.${abi} lib${name}.so)
  endif()
  add_custom_command(TARGET ${target} POST_BUILD ${links} WORKING_DIRECTORY ${DN_LIB_DIR} VERBATIM)
endfunction()

# dn_forwarder(<abi> <sub>): libcudnn_<sub>.so.<abi>, no code of its own (tools/exports.c says how).
function(dn_forwarder abi sub)
  set(gen ${DN_GEN_DIR}/v${abi}/${sub})
  dn_generate(${gen}.map map ${abi} ${sub})
  dn_generate(${gen}.S forward ${abi} ${sub})
  dn_shared(cudnn${abi}_${sub} cudnn_${sub} ${abi} ${gen}.map ${gen}.S ${gen}.map)
  target_link_libraries(cudnn${abi}_${sub} PRIVATE cudnn${abi})
  # RPATH, not RUNPATH: LD_LIBRARY_PATH must not pair this file with another build's libcudnn.so.N.
  # --no-as-needed: the engine names of 9 export nothing, and still load the library.
  # -nostdlib: no start-up code and no libc of their own.
  set_target_properties(cudnn${abi}_${sub} PROPERTIES INSTALL_RPATH "$ORIGIN")
  target_link_options(cudnn${abi}_${sub} PRIVATE
    -nostdlib -fno-sanitize=all LINKER:--disable-new-dtags LINKER:--no-as-needed)
endfunction()

# dn_headers(<abi>): include/vN into build/include/vN, with the suffixed names (cudnn_v8.h) as links.
function(dn_headers abi)
  set(to ${CMAKE_BINARY_DIR}/include/v${abi})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/v${abi}/*.h)
  list(FILTER headers EXCLUDE REGEX "_v${abi}\\.h$")
  set(made)
  foreach(header IN LISTS headers)
    get_filename_component(stem ${header} NAME_WE)
    add_custom_command(OUTPUT ${to}/${stem}.h
      COMMAND ${CMAKE_COMMAND} -E copy ${header} ${to}/${stem}.h
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${stem}.h ${to}/${stem}_v${abi}.h
      DEPENDS ${header} VERBATIM)
    list(APPEND made ${to}/${stem}.h)
  endforeach()
  add_custom_target(dn_headers${abi} ALL DEPENDS ${made})
endfunction()

# dn_abi(<abi>): the API objects, the library, its forwarders, its headers.
function(dn_abi abi)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/api/*.c)
  set(gen ${DN_GEN_DIR}/v${abi}/cudnn)
  file(MAKE_DIRECTORY ${DN_GEN_DIR}/v${abi})
  dn_generate(${gen}.map map ${abi})
  dn_generate(${gen}_notes.S notes ${abi})

  add_library(dn_api${abi} OBJECT ${sources})
  target_link_libraries(dn_api${abi} PRIVATE dn_inside)
  target_include_directories(dn_api${abi} BEFORE PRIVATE ${CMAKE_SOURCE_DIR}/include/v${abi})
  # Our own source uses deprecated functions on purpose and never a CUDA header.
  target_compile_definitions(dn_api${abi} PRIVATE DN_ABI=${abi} ANYDNN_NO_DEPRECATED ANYDNN_NO_CUDA_HEADERS)
  # Default visibility: the version script alone says what is seen outside.
  set_target_properties(dn_api${abi} PROPERTIES POSITION_INDEPENDENT_CODE ON)

  dn_shared(cudnn${abi} cudnn ${abi} ${gen}.map
            $<TARGET_OBJECTS:dn_api${abi}> ${DN_CORE_OBJECTS} ${gen}_notes.S ${gen}.map)
  target_link_libraries(cudnn${abi} PRIVATE dn_flags)
  # nodelete: worker threads and thread-local clean-up outlive a dlclose.
  target_link_options(cudnn${abi} PRIVATE LINKER:-Bsymbolic-functions LINKER:-z,nodelete LINKER:--as-needed)
  dn_headers(${abi})
  add_dependencies(cudnn${abi} dn_headers${abi})

  set(all cudnn${abi})
  foreach(sub IN LISTS DN_SUBS_${abi})
    dn_forwarder(${abi} ${sub})
    list(APPEND all cudnn${abi}_${sub})
  endforeach()
  set(DN_PRODUCTS_${abi} ${all} PARENT_SCOPE)
endfunction()

dn_abi(8)
dn_abi(9)

if(EXISTS ${CMAKE_SOURCE_DIR}/include/anydnn.h)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/include/anydnn.h
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/include/anydnn.h ${CMAKE_BINARY_DIR}/include/anydnn.h
    DEPENDS ${CMAKE_SOURCE_DIR}/include/anydnn.h VERBATIM)
  add_custom_target(dn_headers ALL DEPENDS ${CMAKE_BINARY_DIR}/include/anydnn.h)
endif()
