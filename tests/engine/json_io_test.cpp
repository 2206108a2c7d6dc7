#include "engine/json_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <locale>
#include <nlohmann/json.hpp>

#include "engine/error.h"

namespace {

using engine::dump_json;
using engine::FormatError;
using engine::parse_json;
using engine::parse_metrics_line;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// The message of the FormatError that reading gives, "" if none.
std::string refusal(const std::string& text) {
  try {
    parse_json(text, "f.json");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(JsonIo, NamesFileAndLine) {
  EXPECT_THAT(refusal("{\n\"a\": 1,\n\"b\": }"), AllOf(HasSubstr("f.json"), HasSubstr("line 3")));
  EXPECT_THAT(refusal("{\"a\": 1"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("{}\n\nx"), HasSubstr("line 3"));
  EXPECT_THAT(refusal(""), HasSubstr("line 1: holds nothing"));
}

TEST(JsonIo, RefusesAMemberGivenTwice) {
  EXPECT_THAT(refusal("{\"a\": 1,\n\"a\": 2}"), AllOf(HasSubstr("line 2"), HasSubstr("\"a\" is given twice")));
  EXPECT_THAT(refusal("{\"x\": [{\"a\": 1, \"b\": {}, \"a\": 2}]}"), HasSubstr("given twice"));
  EXPECT_EQ(refusal("{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 2}]}"), "");
}

TEST(JsonIo, RefusesWhatOtherReadersWouldMisread) {
  EXPECT_THAT(refusal("[\n1e999]"), HasSubstr("line 2"));
  EXPECT_THAT(refusal(std::string("{}\n\0{", 5)), HasSubstr("line 2"));
  EXPECT_THAT(refusal("NaN"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("{\"a\": \"\xff\"}"), HasSubstr("line 1"));
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("nested"));
  EXPECT_EQ(refusal(std::string(64, '[') + std::string(64, ']')), "");
}

TEST(JsonIo, NonFiniteNumbersAreNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const json value = {{"a", nan}, {"b", {infinity, -infinity, 1.5}}};
  EXPECT_EQ(dump_json(value), R"({"a":"NaN","b":["Infinity","-Infinity",1.5]})");
}

TEST(JsonIo, MetricsLinesTakeEveryKindOfNonFinite) {
  const json line = parse_metrics_line(
      R"({"a": NaN, "b": -Infinity, "c": Infinity, "d": null, "e": "NaN", "f": "-Infinity", "g": "say \"NaN\" NaN", "h": 2})",
      "m");
  for (const char* key : {"a", "d", "e"}) {
    EXPECT_TRUE(std::isnan(line.at(key).get<double>())) << key;
  }
  EXPECT_EQ(line.at("b").get<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(line.at("c").get<double>(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(line.at("f").get<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(line.at("g"), "say \"NaN\" NaN");
  EXPECT_EQ(line.at("h"), 2);
  EXPECT_THROW(parse_metrics_line("{\"a\": Na", "m"), FormatError);
  EXPECT_THROW(parse_metrics_line("[1]", "m"), FormatError);
}

class CommaNumbers : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(JsonIo, NumbersDoNotFollowTheLocaleAndRoundTrip) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaNumbers));
  const json value = {1234567, 0.1, 1e-300, 123456.789, 5e-324, 1.7976931348623157e308};
  const std::string text = dump_json(value);
  const json back = parse_json(text, "t");
  std::locale::global(before);
  EXPECT_EQ(text, "[1234567,0.1,1e-300,123456.789,5e-324,1.7976931348623157e+308]");
  EXPECT_EQ(back, value);
}

TEST(JsonIo, TextThatIsNotUtf8IsAnError) { EXPECT_THROW(dump_json(json("\xc3")), engine::Error); }

TEST(JsonIo, FloatsPrintShortly) {
  EXPECT_EQ(dump_json(engine::shortest_double(0.1F)), "0.1");
  EXPECT_EQ(static_cast<float>(engine::shortest_double(3.4028234e38F)), 3.4028234e38F);
}

TEST(JsonIo, PrintableShowsNoControlBytes) {
  EXPECT_EQ(engine::printable(std::string("a\n\0\xc3", 4)), R"("a\x0A\x00\xC3")");
  EXPECT_LT(engine::printable(std::string(5000, 'x')).size(), 100U);
}

}  // namespace
