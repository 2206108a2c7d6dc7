# What a GPU's driver does with the GPU engine at first use, done here without one: the code for Turing, which the program
# carries, is compiled for every generation from Turing to Hopper. Slow, so a test where warnings are errors (CI) alone.
if(NOT FULLBAND_HAS_CUDA)
  return()
endif()
get_filename_component(cuda_tools ${CMAKE_CUDA_COMPILER} DIRECTORY)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*.cu)
file(GLOB cuda_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.h ${PROJECT_SOURCE_DIR}/kernels/cuda/*.h
                                         ${PROJECT_SOURCE_DIR}/kernels/cuda/*.cuh)
set(cuda_folder ${CMAKE_CURRENT_BINARY_DIR}/cuda_architectures)
file(MAKE_DIRECTORY ${cuda_folder})

foreach(source ${cuda_sources})
  get_filename_component(name ${source} NAME_WE)
  set(ptx ${cuda_folder}/${name}.ptx)
  set(compile_for_each)
  set(oldest 75)
  if(name MATCHES "_bf16$")
    set(oldest 80)
  endif()
  foreach(architecture ${oldest} 80 86 89 90)
    list(APPEND compile_for_each COMMAND ${cuda_tools}/ptxas -arch=sm_${architecture} ${ptx}
                                         -o ${cuda_folder}/${name}.sm_${architecture}.cubin)
  endforeach()
  add_custom_command(
    OUTPUT ${ptx}
    COMMAND ${CMAKE_CUDA_COMPILER} -std=c++20 -O3 --expt-relaxed-constexpr --Werror=all-warnings
            -Wno-deprecated-gpu-targets -I${PROJECT_SOURCE_DIR} -DFULLBAND_CUDA_LIBRARIES="" -arch=compute_${oldest} -ptx ${source}
            -o ${ptx}
    ${compile_for_each}
    DEPENDS ${source} ${cuda_headers}
    COMMENT "Compiling ${name}.cu for sm_75 to sm_90"
    VERBATIM)
  list(APPEND ptx_files ${ptx})
endforeach()

add_custom_target(cuda_architectures DEPENDS ${ptx_files})
if(FULLBAND_WERROR)
  add_test(NAME cuda_architectures COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target cuda_architectures)
  set_tests_properties(cuda_architectures PROPERTIES TIMEOUT 900)
endif()
