# Fails on a C++ source that clang-format 14 would write differently. Other versions lay out some lines otherwise, so
# that without version 14 this says so and checks nothing.
#   cmake -DROOT=<source folder> -P check_format.cmake
find_program(clang_format NAMES clang-format-14 clang-format)
set(version "none")
if(clang_format)
  execute_process(COMMAND ${clang_format} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT version MATCHES "version 14\\.")
  message("SKIPPED: the format of the sources is checked with clang-format 14 (found: ${version})")
  return()
endif()

foreach(folder kernels engine widgets app tests)
  file(GLOB_RECURSE found ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.cu ${ROOT}/${folder}/*.cuh)
  list(APPEND files ${found})
endforeach()
execute_process(COMMAND ${clang_format} --dry-run --Werror ${files} WORKING_DIRECTORY ${ROOT}
                RESULT_VARIABLE result ERROR_VARIABLE complaints)
if(NOT result EQUAL 0)
  string(REGEX MATCHALL "[^\n]*: error: code should be clang-formatted" lines "${complaints}")
  list(TRANSFORM lines REPLACE ":[0-9]+:[0-9]+: error.*" "")
  list(REMOVE_DUPLICATES lines)
  list(JOIN lines "\n  " names)
  message(FATAL_ERROR "run clang-format -i on\n  ${names}")
endif()
