// The program's version, as in CMakeLists.txt.
#pragma once

namespace engine {

inline const char* version() { return FULLBAND_VERSION; }

}  // namespace engine
