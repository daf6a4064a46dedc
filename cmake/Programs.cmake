# Programs in build/bin. dnbench sees the inside (problem lines, tables), so it takes the archive.
set(DN_ELF_SOURCES ${CMAKE_SOURCE_DIR}/cli/elf.c ${CMAKE_SOURCE_DIR}/cli/elf_symbols.c ${CMAKE_SOURCE_DIR}/cli/map.c)
file(GLOB DN_BENCH_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c)
if(DN_BENCH_SOURCES)
  add_executable(dnbench ${DN_BENCH_SOURCES} ${DN_ELF_SOURCES})
  target_link_libraries(dnbench PRIVATE dn_core_static)
  target_include_directories(dnbench PRIVATE ${CMAKE_SOURCE_DIR}/include/v8 ${CMAKE_SOURCE_DIR}/cli)
  target_compile_definitions(dnbench PRIVATE ANYDNN_VERSION="${PROJECT_VERSION}" ANYDNN_NO_DEPRECATED ANYDNN_NO_CUDA_HEADERS)
  # Where an installed dnbench has them, so that no path of this machine is compiled in.
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/anydnn)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/bench/lists ${CMAKE_BINARY_DIR}/share/anydnn/lists SYMBOLIC)
  set_target_properties(dnbench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()

# anydnn, the tool. It links nothing of the library. Its sources without main.c are an object library, for the fuzzers.
find_package(PkgConfig)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(LIBARCHIVE IMPORTED_TARGET libarchive)
  pkg_check_modules(CJSON IMPORTED_TARGET libcjson)
  pkg_check_modules(NETTLE IMPORTED_TARGET nettle)
endif()
if(LIBARCHIVE_FOUND AND CJSON_FOUND AND NETTLE_FOUND)
  file(GLOB DN_FACTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/*.tsv)
  # install writes package files for archives that have none.
  list(APPEND DN_FACTS ${CMAKE_SOURCE_DIR}/cmake/CUDNNConfig.cmake.in ${CMAKE_SOURCE_DIR}/cmake/CUDNNConfigVersion.cmake.in
       ${CMAKE_SOURCE_DIR}/cmake/cudnn.pc.in)
  add_executable(embed ${CMAKE_SOURCE_DIR}/tools/embed.c)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/generated/embedded.c
                     COMMAND embed ${CMAKE_BINARY_DIR}/generated/embedded.c ${DN_FACTS}
                     DEPENDS embed ${DN_FACTS} COMMENT "Embedding the fact tables")
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated)

  file(GLOB DN_CLI_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/*.c)
  list(REMOVE_ITEM DN_CLI_SOURCES ${CMAKE_SOURCE_DIR}/cli/main.c)
  add_library(dn_cli OBJECT ${DN_CLI_SOURCES} ${CMAKE_BINARY_DIR}/generated/embedded.c)
  target_link_libraries(dn_cli PUBLIC dn_flags PkgConfig::LIBARCHIVE PkgConfig::CJSON PkgConfig::NETTLE)
  target_include_directories(dn_cli PUBLIC ${CMAKE_SOURCE_DIR}/cli PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(dn_cli PUBLIC ANYDNN_VERSION="${PROJECT_VERSION}")
  add_executable(anydnn ${CMAKE_SOURCE_DIR}/cli/main.c)
  target_link_libraries(anydnn PRIVATE dn_cli)
  set_target_properties(anydnn PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

  # The library that `anydnn run` puts into a program's loader. It has no C library (cli/audit/audit.c says why), so nothing may call into one:
  # no sanitizer, no stack protector, no loops turned into memcpy.
  if(CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
    add_library(anydnn_audit SHARED ${CMAKE_SOURCE_DIR}/cli/audit/audit.c)
    target_compile_options(anydnn_audit PRIVATE $<TARGET_PROPERTY:dn_flags,INTERFACE_COMPILE_OPTIONS> -O2 -ffreestanding -fvisibility=hidden -fno-stack-protector -fno-sanitize=all
                           $<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>)
    target_link_options(anydnn_audit PRIVATE -nostdlib -fno-sanitize=all LINKER:-z,relro LINKER:-z,now LINKER:-z,defs LINKER:-z,noexecstack
                        LINKER:--build-id=sha1)
    set_target_properties(anydnn_audit PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/anydnn BUILD_WITH_INSTALL_RPATH ON)
    add_dependencies(anydnn anydnn_audit)
  endif()
else()
  message(STATUS "libarchive, cJSON or nettle was not found: the tool anydnn is not built (make deps installs them)")
endif()
