# Programs in build/bin. dnbench sees the inside (problem lines, tables), so it takes the archive.
file(GLOB DN_BENCH_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c)
if(DN_BENCH_SOURCES)
  add_executable(dnbench ${DN_BENCH_SOURCES} ${CMAKE_SOURCE_DIR}/cli/elf_read.c)
  target_link_libraries(dnbench PRIVATE dn_core_static)
  target_include_directories(dnbench PRIVATE ${CMAKE_SOURCE_DIR}/include/v8 ${CMAKE_SOURCE_DIR}/cli)
  target_compile_definitions(dnbench PRIVATE ANYDNN_VERSION="${PROJECT_VERSION}" ANYDNN_NO_DEPRECATED ANYDNN_NO_CUDA_HEADERS
                             DN_BENCH_LISTS="${CMAKE_SOURCE_DIR}/bench/lists")
  set_target_properties(dnbench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()
