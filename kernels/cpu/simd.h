// FULLBAND_CLONES marks a leaf loop that is compiled for AVX-512, AVX2 and the base processor; the loader picks one at
// run time, so that one program is fast on new processors and starts on old ones.
// A marked function holds no OpenMP region and calls only inline functions.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FULLBAND_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FULLBAND_CLONES
#endif
