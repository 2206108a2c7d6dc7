#include "app/cli/checks.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

namespace app::cli {

CLI::Validator seed_number() {
  const auto check = [](const std::string& text) -> std::string {
    errno = 0;
    std::strtoull(text.c_str(), nullptr, 10);
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return digits && errno == 0 ? "" : text + " is no whole number from 0 to 18446744073709551615";
  };
  return CLI::Validator(check, "");
}

CLI::Validator finite_number() {
  const auto check = [](const std::string& text) -> std::string {
    return std::isfinite(std::strtod(text.c_str(), nullptr)) ? "" : text + " is not finite";
  };
  return CLI::Validator(check, "");
}

}  // namespace app::cli
