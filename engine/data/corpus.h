// Text from files, parted into training and held-out text before anything is learned from it.
#pragma once

#include <string>
#include <vector>

#include "engine/recipe.h"

namespace engine::data {

struct TextPart {
  std::string text;
  bool ends = true;  ///< the document ends here: end of text follows
};

struct Corpus {
  std::string field;  ///< the setting that named it, for errors
  std::vector<TextPart> training;
  std::vector<TextPart> held_out;
  std::string hash;  ///< of all bytes read, in order
};

/// `config.text`: a UTF-8 file, or all files below a folder, hidden ones aside, in the order of their paths. Of each
/// file the last `validation_share` is held out, as one stretch; a file too short for that is trained whole. FileError:
/// cannot be read. FormatError: empty, or not UTF-8 (names the byte).
Corpus read_text(const DataConfig& config);

/// `config.jsonl`: an object a line, whose member `jsonl_field` is a document; blank lines are skipped. A hash of the
/// document decides its side, so that equal documents share it. FormatError names the line.
Corpus read_jsonl(const DataConfig& config);

}  // namespace engine::data
