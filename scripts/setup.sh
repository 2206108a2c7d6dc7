# What run.sh and test.sh share: the Debian packages that the program is built from, and how it is built. Sourced.

# Debian 12 names.
build_packages=(
  build-essential cmake ninja-build pkg-config
  qt6-base-dev qt6-svg-dev qt6-qpa-plugins libqcustomplot-dev
  libeigen3-dev libsentencepiece-dev libxxhash-dev nlohmann-json3-dev libcli11-dev
  libgtest-dev libgmock-dev libbenchmark-dev libboost-context-dev
  fonts-dejavu-core
)
# Used by the tests alone: a screen without a screen, text in PDFs, the format of the sources, several processes.
test_packages=(xvfb xauth xdotool poppler-utils clang-format libopenmpi-dev openmpi-bin)

say() { printf '%s\n' "$*"; }

is_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$'; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# Installs those of the named packages that are missing, and says so. Does nothing, silently, when none is.
install_missing() {
  if ! command -v apt-get >/dev/null; then
    say "No apt-get here: please install what these Debian packages hold: $*"
    return
  fi
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if [ "${#missing[@]}" -eq 0 ]; then
    return
  fi
  say "Installing from Debian: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    say "This needs root and there is no sudo. As root, run: apt-get install ${missing[*]}" >&2
    return 1
  fi
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Configures build/ and builds the named targets there, or everything. Both scripts configure alike, because another
# option would mean compiling everything anew: with CI=true warnings are errors, and stay so in this folder. What CMake
# says is shown only if it fails.
build_release() {
  say "Building into build/"
  local options=(-DCMAKE_BUILD_TYPE=Release -DFULLBAND_TESTS=ON)
  [ -f build/CMakeCache.txt ] || options+=(-G Ninja)
  [ "${CI:-}" != true ] || options+=(-DFULLBAND_WERROR=ON)
  mkdir -p build
  if ! cmake -S . -B build "${options[@]}" >build/configure.log 2>&1; then
    cat build/configure.log >&2
    return 1
  fi
  if [ "$#" -gt 0 ]; then
    cmake --build build --parallel "$(nproc)" --target "$@"
  else
    cmake --build build --parallel "$(nproc)"
  fi
}
