#include "engine/data/tokenizer.h"

#include <nlohmann/json.hpp>

#include "engine/data/sentencepiece_tokenizer.h"
#include "engine/data/utf8.h"
#include "engine/error.h"

namespace engine::data {
namespace {

const nlohmann::json& member(const nlohmann::json& object, const char* name) {
  if (!object.is_object() || !object.contains(name)) {
    throw FormatError("tokenizer",
                      std::string("the member \"") + name + "\" is missing; the file was not written here");
  }
  return object[name];
}

std::string text_member(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = member(object, name);
  if (!value.is_string()) throw FormatError("tokenizer", std::string("\"") + name + "\" must be a text");
  return value.get<std::string>();
}

std::vector<std::string> symbols_member(const nlohmann::json& object) {
  const nlohmann::json& value = member(object, "symbols");
  if (!value.is_array()) throw FormatError("tokenizer", "\"symbols\" must be a list of texts");
  std::vector<std::string> symbols;
  for (const nlohmann::json& symbol : value) {
    if (!symbol.is_string()) throw FormatError("tokenizer", "\"symbols\" must be a list of texts");
    symbols.push_back(symbol.get<std::string>());
  }
  return symbols;
}

}  // namespace

std::string Tokenizer::decode(const std::vector<std::int32_t>& tokens) const {
  std::string text;
  for (const std::int32_t token : tokens) text += bytes(token);
  return text;
}

std::unique_ptr<Tokenizer> tokenizer_from_json(const nlohmann::json& object) {
  const std::string kind = text_member(object, "kind");
  if (kind == "byte") return make_byte_tokenizer();
  if (kind == "symbols") return make_symbol_tokenizer(symbols_member(object));
  if (kind == "sentencepiece") return sentencepiece_from_hex(text_member(object, "model"));
  throw FormatError("tokenizer",
                    "the kind \"" + kind + "\" is unknown; this program reads byte, symbols and sentencepiece");
}

}  // namespace engine::data
