# The GPU engine's own sources compiled as host C++, with tests/support/cuda_host in place of the CUDA Toolkit: the
# backend's tests run on them without a GPU. In these programs "cuda:0" is the host.
include(cuda_architectures.cmake)
if(FULLBAND_SANITIZE MATCHES "thread")
  return()  # the thread sanitizer takes fibers for threads
endif()
find_package(Boost QUIET COMPONENTS context)
if(NOT Boost_CONTEXT_FOUND)
  message(STATUS "Boost.Context (libboost-context-dev) was not found: the GPU engine is not tested on the host")
  return()
endif()

file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*.cu)
file(GLOB cuda_host_sources CONFIGURE_DEPENDS support/cuda_host/*.cpp)
set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CXX)
# Objects, so that this factory is taken and not that of fullband_kernels.
add_library(fullband_cuda_host OBJECT ${cuda_sources} ${cuda_host_sources} ${PROJECT_SOURCE_DIR}/kernels/backend_factory.cpp)
target_include_directories(fullband_cuda_host BEFORE PUBLIC support/cuda_host)
target_compile_definitions(fullband_cuda_host PUBLIC FULLBAND_CUDA_HOST PRIVATE FULLBAND_WITH_CUDA)
target_compile_options(fullband_cuda_host PRIVATE $<$<CONFIG:Release>:-O2>)
target_link_libraries(fullband_cuda_host PUBLIC fullband_kernels_cpu Boost::context PRIVATE Eigen3::Eigen)

# The backend's tests, less those of what knows no device, and the tests of the host's device itself.
file(GLOB contract_tests CONFIGURE_DEPENDS kernels/*_test.cpp cuda_host/*_test.cpp)
list(FILTER contract_tests EXCLUDE REGEX "/(shapes|philox|fast_math|gpu_load|product)_test\\.cpp$")
add_executable(cuda_host_tests ${contract_tests})
target_link_libraries(cuda_host_tests PRIVATE fullband_cuda_host GTest::gmock GTest::gtest GTest::gtest_main)
target_compile_options(cuda_host_tests PRIVATE $<$<CONFIG:Release>:-O1> -Wno-maybe-uninitialized)
gtest_discover_tests(cuda_host_tests TEST_PREFIX cuda_host/ DISCOVERY_MODE PRE_TEST
                     PROPERTIES TIMEOUT 300)

# The engine on these kernels: golden files, cached decoding, a short training.
file(GLOB engine_tests_on_host CONFIGURE_DEPENDS cuda_host_engine/*_test.cpp)
add_executable(cuda_host_engine_tests ${engine_tests_on_host})
target_link_libraries(cuda_host_engine_tests PRIVATE fullband_cuda_host fullband_engine GTest::gmock GTest::gtest
                                                     GTest::gtest_main)
target_compile_definitions(cuda_host_engine_tests PRIVATE FULLBAND_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_options(cuda_host_engine_tests PRIVATE $<$<CONFIG:Release>:-O1> -Wno-maybe-uninitialized)
gtest_discover_tests(cuda_host_engine_tests TEST_PREFIX cuda_host_engine/ DISCOVERY_MODE PRE_TEST
                     PROPERTIES TIMEOUT 300)
