# The objects that both libraries share: everything below the API, compiled once.
#   dn_core          object library, linked into libcudnn.so.8 and libcudnn.so.9
#   dn_core_static   the same objects as an archive, for tests and tools that look inside
file(GLOB DN_CORE_SOURCES CONFIGURE_DEPENDS
     ${CMAKE_SOURCE_DIR}/src/core/*.c ${CMAKE_SOURCE_DIR}/src/ops/*.c ${CMAKE_SOURCE_DIR}/src/ref/*.c
     ${CMAKE_SOURCE_DIR}/src/cpu/*.c ${CMAKE_SOURCE_DIR}/src/graph/*.c ${CMAKE_SOURCE_DIR}/src/cuda/*.c ${CMAKE_SOURCE_DIR}/src/cuda/*/*.c)
set(DN_ISA_SOURCES ${DN_CORE_SOURCES})
list(FILTER DN_ISA_SOURCES INCLUDE REGEX "\\.isa\\.c$")
list(FILTER DN_CORE_SOURCES EXCLUDE REGEX "\\.isa\\.c$")

# What every object of the library is compiled with.
add_library(dn_inside INTERFACE)
target_link_libraries(dn_inside INTERFACE dn_flags)
target_include_directories(dn_inside INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(dn_inside INTERFACE ANYDNN_VERSION="${PROJECT_VERSION}")
if(DN_X86_64)
  target_compile_definitions(dn_inside INTERFACE DN_HAVE_AVX2=1 DN_HAVE_AVX512=1)
endif()

# Sums that promise the same bits in every instruction set and layout fuse nothing.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/ref/bn_kernel.isa.c PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

# A file <x>.isa.c is compiled once per instruction set, with DN_ISA=base, avx2 or avx512 as the
# token that ends its function names; the caller picks at run time. These files are the inner loops:
# -O3 because gcc vectorises loops of unknown length only there, and no errno or trap semantics,
# which the loops do not use. Values, signed zeros and NaN stay as IEEE says.
function(dn_isa_objects isa)
  if(DN_ISA_SOURCES)
    add_library(dn_isa_${isa} OBJECT ${DN_ISA_SOURCES})
    target_link_libraries(dn_isa_${isa} PRIVATE dn_inside)
    target_compile_definitions(dn_isa_${isa} PRIVATE DN_ISA=${isa})
    target_compile_options(dn_isa_${isa} PRIVATE -O3 -fno-math-errno -fno-trapping-math ${ARGN})
    set_target_properties(dn_isa_${isa} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    set(DN_ISA_OBJECTS ${DN_ISA_OBJECTS} $<TARGET_OBJECTS:dn_isa_${isa}> PARENT_SCOPE)
  endif()
endfunction()
dn_isa_objects(base)
if(DN_X86_64)
  dn_isa_objects(avx2 -mavx2 -mfma)
  dn_isa_objects(avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma)
endif()

add_library(dn_core OBJECT ${DN_CORE_SOURCES})
target_link_libraries(dn_core PRIVATE dn_inside)
set_target_properties(dn_core PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
include(Cuda)
set(DN_CORE_OBJECTS $<TARGET_OBJECTS:dn_core> ${DN_ISA_OBJECTS} $<TARGET_OBJECTS:dn_cuda_code>)

add_library(dn_core_static STATIC EXCLUDE_FROM_ALL ${DN_CORE_OBJECTS})
set_target_properties(dn_core_static PROPERTIES LINKER_LANGUAGE C ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/obj)
target_link_libraries(dn_core_static PUBLIC dn_flags)
target_include_directories(dn_core_static PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
