# Compiler and linker flags, as one interface target that every other target uses.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # gnu11; -Wpedantic still reports what is not C11
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Same bits from any checkout: no absolute path in __FILE__ or in the debug information, from which
# the build id is made. The build folder lies inside the source folder as a rule, so it comes last
# (the last matching option wins).
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}=." "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")

add_library(dn_flags INTERFACE)
target_compile_options(dn_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall> $<$<COMPILE_LANGUAGE:C>:-Wextra> $<$<COMPILE_LANGUAGE:C>:-Wpedantic>
  $<$<COMPILE_LANGUAGE:C>:-Wshadow> $<$<COMPILE_LANGUAGE:C>:-Wvla>)
if(ANYDNN_WERROR)
  target_compile_options(dn_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
target_link_libraries(dn_flags INTERFACE m Threads::Threads ${CMAKE_DL_LIBS})

if(ANYDNN_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(ANYDNN_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

option(ANYDNN_FUZZ "Build the libFuzzer programs (clang)" OFF)
if(ANYDNN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(DN_X86_64 ON)
endif()
