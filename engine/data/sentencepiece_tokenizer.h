// SentencePiece (Kudo and Richardson 2018) as a tokenizer that gives back every byte it was given.
#pragma once

#include <memory>
#include <string>

#include "engine/data/tokenizer.h"

namespace engine::data {

/// From the "model" member of to_json(): the serialised model as hex digits. FormatError if it is not one of ours.
std::unique_ptr<Tokenizer> sentencepiece_from_hex(const std::string& hex);
/// From the serialised model itself, which must have byte pieces and an end of text.
std::unique_ptr<Tokenizer> sentencepiece_from_model(std::string model);

}  // namespace engine::data
