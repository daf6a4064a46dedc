# Puts one ABI into a prefix:
#   cmake -DDN_FACTS=<build>/package/facts.cmake -DDN_PREFIX=<dir> [-DDN_INSTALL_ABI=8|9] -P install_tree.cmake
# A prefix may hold the libraries of both ABIs; its headers, bare libcudnn.so, CMake package and
# cudnn.pc are those of the ABI installed last.
include("${DN_FACTS}")
if(NOT DN_INSTALL_ABI)
  set(DN_INSTALL_ABI ${DN_DEFAULT_ABI})
endif()
if(NOT DN_INSTALL_ABI MATCHES "^[89]$")
  message(FATAL_ERROR "ABI=${DN_INSTALL_ABI}: the value must be 8 or 9.")
endif()
set(abi ${DN_INSTALL_ABI})
set(version ${DN_VERSION_${abi}})
set(lib "${DN_PREFIX}/${DN_LIBDIR}")

set(names cudnn)
foreach(sub IN LISTS DN_SUBS_${abi})
  list(APPEND names cudnn_${sub})
endforeach()
# Replaces, never writes into what is there: a running program may have the old library mapped, and
# file(COPY) alone keeps an old file whose time happens to be the new one's.
function(put folder)
  foreach(file IN LISTS ARGN)
    get_filename_component(name "${file}" NAME)
    file(REMOVE "${folder}/${name}")
    file(COPY "${file}" DESTINATION "${folder}")
  endforeach()
endfunction()

foreach(name IN LISTS names)
  put("${lib}" "${DN_BUILD}/lib/lib${name}.so.${version}")
  if(DN_STRIP)
    execute_process(COMMAND "${DN_STRIP}" --strip-unneeded "${lib}/lib${name}.so.${version}"
                    RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "${DN_STRIP} failed on ${lib}/lib${name}.so.${version}")
    endif()
  endif()
  file(CREATE_LINK "lib${name}.so.${version}" "${lib}/lib${name}.so.${abi}" SYMBOLIC)
  file(CREATE_LINK "lib${name}.so.${abi}" "${lib}/lib${name}.so" SYMBOLIC)
endforeach()

file(GLOB headers "${DN_BUILD}/include/v${abi}/*.h")
put("${DN_PREFIX}/include" ${headers} "${DN_BUILD}/include/anydnn.h")
put("${lib}/cmake/CUDNN" "${DN_BUILD}/package/v${abi}/CUDNNConfig.cmake"
    "${DN_BUILD}/package/v${abi}/CUDNNConfigVersion.cmake")
put("${lib}/pkgconfig" "${DN_BUILD}/package/v${abi}/cudnn.pc")

# What `anydnn run` puts into a program's loader.
if(EXISTS "${DN_BUILD}/lib/anydnn/libanydnn_audit.so")
  put("${lib}/anydnn" "${DN_BUILD}/lib/anydnn/libanydnn_audit.so")
endif()

# The tool, which needs libarchive, cJSON and nettle to be built, with its manual and its completions.
if(EXISTS "${DN_BUILD}/bin/anydnn")
  put("${DN_PREFIX}/bin" "${DN_BUILD}/bin/anydnn")
  if(DN_STRIP)
    execute_process(COMMAND "${DN_STRIP}" --strip-unneeded "${DN_PREFIX}/bin/anydnn" RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "${DN_STRIP} failed on ${DN_PREFIX}/bin/anydnn")
    endif()
  endif()
  file(GLOB pages "${DN_SOURCE}/man/*.1")
  put("${DN_PREFIX}/share/man/man1" ${pages})
  put("${DN_PREFIX}/share/zsh/site-functions" "${DN_SOURCE}/completion/_anydnn")
  put("${DN_PREFIX}/share/fish/vendor_completions.d" "${DN_SOURCE}/completion/anydnn.fish")
  file(MAKE_DIRECTORY "${DN_PREFIX}/share/bash-completion/completions")
  configure_file("${DN_SOURCE}/completion/anydnn.bash" "${DN_PREFIX}/share/bash-completion/completions/anydnn" COPYONLY)
endif()
# dnbench, which the tool starts for find and verify, and its lists.
if(EXISTS "${DN_BUILD}/bin/dnbench")
  put("${DN_PREFIX}/libexec/anydnn" "${DN_BUILD}/bin/dnbench")
  if(DN_STRIP)
    execute_process(COMMAND "${DN_STRIP}" --strip-unneeded "${DN_PREFIX}/libexec/anydnn/dnbench" RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "${DN_STRIP} failed on ${DN_PREFIX}/libexec/anydnn/dnbench")
    endif()
  endif()
  file(GLOB lists "${DN_SOURCE}/bench/lists/*.txt")
  put("${DN_PREFIX}/share/anydnn/lists" ${lists})
endif()
message(STATUS "anydnn ${DN_ANYDNN_VERSION} as cuDNN ${version} is in ${DN_PREFIX}")
