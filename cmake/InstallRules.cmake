# Installing. `make install`, `make dist` and `cmake --install` all run cmake/install_tree.cmake, so
# an unpacked archive and an installed prefix hold the same files.
set(ANYDNN_INSTALL_ABI 8 CACHE STRING "ABI of `cmake --install`: 8 or 9 (the variable ABI of the environment wins)")
set_property(CACHE ANYDNN_INSTALL_ABI PROPERTY STRINGS 8 9)
set(ANYDNN_LIBDIR lib CACHE STRING "Folder of libraries below the prefix")
if(TARGET dn_cli)
  target_compile_definitions(dn_cli PUBLIC CLI_LIBDIR="${ANYDNN_LIBDIR}") # where the tool finds what belongs to it
endif()

set(DN_PACKAGE_DIR ${CMAKE_BINARY_DIR}/package)
string(REGEX REPLACE "[^/]+" ".." DN_UP_FROM_LIB "${ANYDNN_LIBDIR}")
foreach(abi 8 9)
  set(DN_ABI ${abi})
  set(DN_CUDNN_VERSION ${DN_VERSION_${abi}})
  string(REPLACE ";" " " DN_SUB_LIBRARIES "${DN_SUBS_${abi}}")
  configure_file(cmake/CUDNNConfig.cmake.in ${DN_PACKAGE_DIR}/v${abi}/CUDNNConfig.cmake @ONLY)
  configure_file(cmake/CUDNNConfigVersion.cmake.in ${DN_PACKAGE_DIR}/v${abi}/CUDNNConfigVersion.cmake @ONLY)
  configure_file(cmake/cudnn.pc.in ${DN_PACKAGE_DIR}/v${abi}/cudnn.pc @ONLY)
endforeach()

# What install_tree.cmake must know, for use without this cache (make dist).
configure_file(cmake/install_facts.cmake.in ${DN_PACKAGE_DIR}/facts.cmake @ONLY)
install(CODE "
  set(DN_PREFIX \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  set(DN_FACTS \"${DN_PACKAGE_DIR}/facts.cmake\")
  set(DN_INSTALL_ABI \"\$ENV{ABI}\")
  include(\"${CMAKE_SOURCE_DIR}/cmake/install_tree.cmake\")")
