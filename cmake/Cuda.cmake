# The kernels: each src/cuda/**/<name>.cu is one module with an image per architecture, all embedded by the assembler. The host code of the
# engine is part of every build; without a CUDA compiler the table of images is empty, and the engine says so when it is asked for.
#   ANYDNN_CUDA        auto: kernels where nvcc is there and a driver answers; on: always; off: never
#   ANYDNN_CUDA_ARCHS  compute capabilities; "90a" alone for a quick build
set(ANYDNN_CUDA_ARCHS "75;80;86;89;90a" CACHE STRING "Compute capabilities that get code of their own")
set(ANYDNN_CUDA_PTX "80" CACHE STRING "Compute capability of the text for newer devices; empty: none")

find_program(DN_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin PATHS /usr/local/cuda/bin)
set(DN_CUDA_BUILD OFF)
if(ANYDNN_CUDA STREQUAL "on")
  if(NOT DN_NVCC)
    message(FATAL_ERROR "ANYDNN_CUDA=on: nvcc was not found; put it on PATH or set CUDA_HOME, or use ANYDNN_CUDA=off.")
  endif()
  set(DN_CUDA_BUILD ON)
elseif(ANYDNN_CUDA STREQUAL "auto" AND DN_NVCC AND (EXISTS /proc/driver/nvidia/version OR EXISTS /dev/dxg))
  set(DN_CUDA_BUILD ON)
endif()

set(DN_CUDA_TOOLKIT 0)
if(DN_CUDA_BUILD)
  execute_process(COMMAND ${DN_NVCC} --version OUTPUT_VARIABLE said)
  if(said MATCHES "release ([0-9]+)\\.([0-9]+)")
    math(EXPR DN_CUDA_TOOLKIT "${CMAKE_MATCH_1} * 1000 + ${CMAKE_MATCH_2} * 10")
  endif()
  message(STATUS "Kernels: CUDA ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}, architectures ${ANYDNN_CUDA_ARCHS}, text for ${ANYDNN_CUDA_PTX}")
else()
  message(STATUS "Kernels: none (ANYDNN_CUDA=${ANYDNN_CUDA})")
endif()

add_executable(dn_images ${CMAKE_SOURCE_DIR}/tools/images.c)
target_link_libraries(dn_images PRIVATE dn_flags)
set_target_properties(dn_images PROPERTIES OUTPUT_NAME images RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tools)

set(DN_CUDA_DIR ${CMAKE_BINARY_DIR}/cuda)
set(DN_CUDA_IMAGES)   # MODULE:SM:EXACT:PTX:FILE
set(DN_CUDA_FILES)

# dn_cuda_image(<source> <module> <sm, perhaps with an a> <kind: cubin or ptx>)
function(dn_cuda_image source module arch kind)
  set(out ${DN_CUDA_DIR}/${module}.${arch}.${kind})
  string(REGEX MATCH "^[0-9]+" sm ${arch})
  set(exact 0)
  if(NOT sm STREQUAL arch)
    set(exact 1)
  endif()
  if(kind STREQUAL "ptx")
    set(target -ptx -arch=compute_${arch})
    set(ptx 1)
  else()
    set(target -cubin -arch=sm_${arch})
    set(ptx 0)
  endif()
  add_custom_command(OUTPUT ${out}
    COMMAND ${DN_NVCC} ${target} -std=c++14 -O3 -I ${CMAKE_SOURCE_DIR}/src --fmad=true -Werror all-warnings -Wno-deprecated-gpu-targets
            -MD -MF ${out}.d -MT ${out} -o ${out} ${source}
    DEPENDS ${source} DEPFILE ${out}.d COMMENT "Kernels ${module} ${arch}" VERBATIM)
  set(DN_CUDA_IMAGES ${DN_CUDA_IMAGES} ${module}:${sm}:${exact}:${ptx}:${out} PARENT_SCOPE)
  set(DN_CUDA_FILES ${DN_CUDA_FILES} ${out} PARENT_SCOPE)
endfunction()

if(DN_CUDA_BUILD)
  file(MAKE_DIRECTORY ${DN_CUDA_DIR})
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cuda/*.cu)
  list(SORT kernels)
  foreach(source IN LISTS kernels)
    get_filename_component(module ${source} NAME_WE)
    # A module whose name has _sm<NN> wants at least that capability (90 means 90a).
    set(least 0)
    if(module MATCHES "_sm([0-9]+)")
      set(least ${CMAKE_MATCH_1})
    endif()
    foreach(arch IN LISTS ANYDNN_CUDA_ARCHS)
      string(REGEX MATCH "^[0-9]+" sm ${arch})
      if(NOT sm LESS least AND NOT (least EQUAL 90 AND NOT arch STREQUAL "90a"))
        dn_cuda_image(${source} ${module} ${arch} cubin)
      endif()
    endforeach()
    if(ANYDNN_CUDA_PTX AND NOT ANYDNN_CUDA_PTX LESS least)
      dn_cuda_image(${source} ${module} ${ANYDNN_CUDA_PTX} ptx)
    endif()
  endforeach()
endif()

# A list of hundreds of files is longer than a command line may be.
string(REPLACE ";" "\n" lines "${DN_CUDA_IMAGES}")
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/gen/images.txt CONTENT "${lines}\n")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/gen/images.c ${CMAKE_BINARY_DIR}/gen/images.S
  COMMAND dn_images ${DN_CUDA_TOOLKIT} ${CMAKE_BINARY_DIR}/gen/images.txt ${CMAKE_BINARY_DIR}/gen/images.c ${CMAKE_BINARY_DIR}/gen/images.S
  DEPENDS dn_images ${CMAKE_BINARY_DIR}/gen/images.txt ${DN_CUDA_FILES} VERBATIM)
add_library(dn_cuda_code OBJECT ${CMAKE_BINARY_DIR}/gen/images.c ${CMAKE_BINARY_DIR}/gen/images.S)
target_link_libraries(dn_cuda_code PRIVATE dn_inside)
set_target_properties(dn_cuda_code PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
set_source_files_properties(${CMAKE_BINARY_DIR}/gen/images.S PROPERTIES OBJECT_DEPENDS "${DN_CUDA_FILES}")
