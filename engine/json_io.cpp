#include "engine/json_io.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "engine/error.h"

namespace engine {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;

std::string line_of(std::string_view text, std::size_t byte, std::int64_t first_line) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return "line " + std::to_string(first_line + std::count(text.begin(), end, '\n'));
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

std::size_t read_so_far(std::istream& stream, std::string_view text) {
  const auto place = stream.rdbuf()->pubseekoff(0, std::ios_base::cur, std::ios_base::in);
  return place < 0 ? text.size() : static_cast<std::size_t>(place);
}

/// What the parser says after its own prefix and place, for example "unexpected end of input".
std::string reason_of(const json::exception& error) {
  std::string reason = error.what();
  if (const auto bracket = reason.find("] "); bracket != std::string::npos) {
    reason.erase(0, bracket + 2);
  }
  if (const auto place = reason.find(": syntax error"); place != std::string::npos) {
    reason.erase(0, place + 2);
  }
  for (char& c : reason) {
    if (c < ' ' || c > '~') {
      c = '?';
    }
  }
  return reason;
}

/// Refuses what the parser would take: members given twice (the last would win) and nesting that exhausts the stack
/// of recursive readers.
class StrictRules {
 public:
  StrictRules(std::string_view text, const std::string& file, std::int64_t first_line, std::istream& stream)
      : text_(text), file_(file), first_line_(first_line), stream_(stream) {}

  bool operator()(int depth, json::parse_event_t event, const json& parsed) {
    if (depth > kMaxDepth) {
      fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    if (event == json::parse_event_t::object_start) {
      names_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      names_.pop_back();
    } else if (event == json::parse_event_t::key && !names_.back().insert(parsed.get<std::string>()).second) {
      fail("member " + printable(parsed.get<std::string>()) + " is given twice");
    }
    return true;
  }

 private:
  [[noreturn]] void fail(const std::string& what) {
    throw FormatError(file_, line_of(text_, read_so_far(stream_, text_), first_line_) + ": " + what);
  }

  std::string_view text_;
  const std::string& file_;
  std::int64_t first_line_;
  std::istream& stream_;
  std::vector<std::set<std::string>> names_;
};

constexpr std::array<std::string_view, 3> kNonFinite = {"-Infinity", "Infinity", "NaN"};

/// Puts bare NaN, Infinity and -Infinity in quotes; text inside strings stays as it is.
std::string quote_non_finite(std::string_view text) {
  std::string result;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const auto* word = std::find_if(kNonFinite.begin(), kNonFinite.end(), [&](std::string_view candidate) {
      return !in_string && text.substr(i).starts_with(candidate);
    });
    if (word != kNonFinite.end()) {
      result.append("\"").append(*word).append("\"");
      i += word->size();
      continue;
    }
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      result += text[i++];
    } else if (text[i] == '"') {
      in_string = !in_string;
    }
    result += text[i++];
  }
  return result;
}

bool is_non_finite_name(const json& value) {
  return value.is_string() &&
         std::find(kNonFinite.begin(), kNonFinite.end(), value.get_ref<const std::string&>()) != kNonFinite.end();
}

double non_finite_number(const json& value) {
  if (value.is_null() || value == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return value == "Infinity" ? infinity : -infinity;
}

/// The library writes non-finite numbers as null, which would lose which one it was.
void name_non_finite(json& value) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::isnan(number)) {
      value = "NaN";
    } else if (std::isinf(number)) {
      value = number > 0 ? "Infinity" : "-Infinity";
    }
  } else if (value.is_structured()) {
    for (json& element : value) {
      name_non_finite(element);
    }
  }
}

}  // namespace

json parse_json(std::string_view text, const std::string& file, std::int64_t first_line) {
  // The library takes a NUL byte for the end and would not see what follows it.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw FormatError(file, line_of(text, nul, first_line) + ": holds a NUL byte");
  }
  if (is_blank(text)) throw FormatError(file, line_of(text, 0, first_line) + ": holds nothing");
  std::istringstream stream{std::string(text)};
  try {
    return json::parse(stream, StrictRules(text, file, first_line, stream));
  } catch (const json::parse_error& error) {
    throw FormatError(file, line_of(text, error.byte > 0 ? error.byte - 1 : 0, first_line) + ": " + reason_of(error));
  } catch (const json::exception& error) {
    throw FormatError(file, line_of(text, read_so_far(stream, text), first_line) + ": " + reason_of(error));
  }
}

json parse_metrics_line(std::string_view text, const std::string& file) {
  json object = parse_json(quote_non_finite(text), file);
  if (!object.is_object()) {
    throw FormatError(file, "a metrics line must be an object");
  }
  for (json& value : object) {
    if (value.is_null() || is_non_finite_name(value)) {
      value = non_finite_number(value);
    }
  }
  return object;
}

std::string dump_json(const json& value, int indent) {
  json finite = value;
  name_non_finite(finite);
  try {
    return finite.dump(indent);
  } catch (const json::exception& error) {
    throw Error("JSON cannot be written: " + reason_of(error));
  }
}

double shortest_double(float value) {
  std::array<char, 64> text{};
  const auto printed = std::to_chars(text.data(), text.data() + text.size(), value);
  double result = 0;
  std::from_chars(text.data(), printed.ptr, result);
  return result;
}

std::string printable(std::string_view text) {
  constexpr std::size_t kMaxBytes = 80;
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string result(1, '"');
  for (const char c : text.substr(0, kMaxBytes)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return result + (text.size() > kMaxBytes ? "...\"" : "\"");
}

}  // namespace engine
