#include "app/cli/checks.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace app::cli {
namespace {

std::string must_be(const std::string& what, const std::string& given) {
  return "must be " + what + ", not " + (given.empty() ? "empty" : given);
}

std::optional<std::int64_t> parse_whole(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == end;
  return whole ? std::optional(value) : std::nullopt;
}

/// Nothing for text that is no number, and for infinities and NaN.
std::optional<double> parse_finite(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool number = end != text.c_str() && *end == '\0' && std::isfinite(value);
  return number ? std::optional(value) : std::nullopt;
}

/// `in_help` stands behind the option's type in --help.
template <typename Accepts>
CLI::Validator number_check(const std::string& what, const std::string& in_help, const Accepts& accepts) {
  const auto check = [=](const std::string& text) -> std::string {
    const std::optional<double> value = parse_finite(text);
    return value && accepts(*value) ? "" : must_be(what, text);
  };
  return {check, in_help};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// "a, b or c"
std::string or_list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  const auto check = [=](const std::string& text) -> std::string {
    const std::optional<std::int64_t> value = parse_whole(text);
    return value && *value >= least && *value <= most ? "" : must_be("a whole number from " + range, text);
  };
  return {check, std::to_string(least) + ".." + std::to_string(most)};
}

CLI::Validator number_not_negative() {
  return number_check("a number of at least 0", "0 or more", [](double value) { return value >= 0; });
}

CLI::Validator number_above_zero() {
  return number_check("a number above 0", "above 0", [](double value) { return value > 0; });
}

CLI::Validator share_above_zero() {
  return number_check("a number above 0 and at most 1", "above 0, to 1",
                      [](double value) { return value > 0 && value <= 1; });
}

CLI::Validator seed_number() {
  const auto check = [](const std::string& text) -> std::string {
    errno = 0;
    std::strtoull(text.c_str(), nullptr, 10);
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return digits && errno == 0 ? "" : must_be("a whole number from 0 to 18446744073709551615", text);
  };
  return {check, ""};
}

CLI::Validator one_of(std::vector<std::string> names) {
  const auto check = [names = std::move(names)](const std::string& text) -> std::string {
    const bool known = std::find(names.begin(), names.end(), text) != names.end();
    return known ? "" : must_be(or_list(names), text);
  };
  return {check, ""};
}

CLI::Validator existing_file() {
  const auto check = [](const std::string& text) -> std::string {
    std::error_code error;
    if (std::filesystem::is_directory(text, error)) return text + " is a folder; name a file";
    return std::filesystem::exists(text, error) ? "" : "there is no file " + text;
  };
  return {check, ""};
}

CLI::Validator not_empty() {
  return {[](const std::string& text) -> std::string { return text.empty() ? "must not be empty" : ""; }, ""};
}

std::string plain_sentence(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  const std::string option = message.substr(0, message.find_first_of(": "));
  if (contains(message, "not expected")) return app.remaining(true).front() + " is no option or argument here";
  if (contains(message, "A subcommand is required")) return "a verb is required, such as train";
  if (contains(message, " missing")) return option + ": needs a value";
  if (contains(message, "At Most")) return option + ": is given more than once";
  if (contains(message, " excludes "))
    return option + " and " + message.substr(message.rfind(' ') + 1) + " exclude each other";
  return message;
}

}  // namespace app::cli
