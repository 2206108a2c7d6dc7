#include "engine/data/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "engine/data/content_hash.h"
#include "engine/data/held_out.h"
#include "engine/data/utf8.h"
#include "engine/error.h"

namespace engine::data {
namespace {

namespace fs = std::filesystem;

std::string read_bytes(const fs::path& file) {
  std::error_code error;
  std::ifstream stream(file, std::ios::binary);
  if (!fs::is_regular_file(file, error) || !stream) {
    throw FileError(file.string(), "there is no such file that can be read; check the name and the permissions");
  }
  std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) throw FileError(file.string(), "reading failed");
  return bytes;
}

std::string read_utf8(const fs::path& file) {
  std::string text = read_bytes(file);
  if (text.empty()) throw FormatError(file.string(), "this file is empty; remove it or give one with text");
  const std::size_t at = first_invalid_byte(text);
  if (at == std::string::npos) return text;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  throw FormatError(file.string(), "line " + std::to_string(line) + ": byte " + std::to_string(at) + " (" +
                                       byte_label(static_cast<unsigned char>(text[at])) +
                                       ") is not valid UTF-8; convert the file to UTF-8");
}

/// The file itself, or the files below the folder. A hidden folder hides what is in it.
std::vector<fs::path> text_files(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  auto walk = fs::recursive_directory_iterator(path, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    const bool hidden = walk->path().filename().string().starts_with(".");
    if (hidden && walk->is_directory()) walk.disable_recursion_pending();
    if (!hidden && walk->is_regular_file()) files.push_back(walk->path());
  }
  if (error) throw FileError(path.string(), "this folder cannot be read: " + error.message());
  if (files.empty()) throw FileError(path.string(), "this folder has no files; put UTF-8 text files into it");
  std::sort(files.begin(), files.end());
  return files;
}

void part_file(const std::string& text, double share, Corpus& corpus) {
  const auto kept = static_cast<std::size_t>((1.0 - share) * static_cast<double>(text.size()));
  const std::size_t cut = character_start(text, kept);
  if (cut == 0 || cut == text.size()) {
    corpus.training.push_back({text, true});
    return;
  }
  corpus.training.push_back({text.substr(0, cut), false});
  corpus.held_out.push_back({text.substr(cut), true});
}

/// What is wrong with a line, or nothing; the document goes to `document`.
std::string read_line(std::string_view line, const std::string& field, std::string& document) {
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
  if (object.is_discarded()) return "this is not valid JSON; each line must be one object";
  if (!object.is_object()) return "this is not an object; each line must be one";
  if (!object.contains(field)) return "there is no member \"" + field + "\"; check data.jsonl_field";
  if (!object[field].is_string()) return "the member \"" + field + "\" is not a text";
  document = object[field].get<std::string>();
  return document.empty() ? "the member \"" + field + "\" is empty; remove the line" : "";
}

std::vector<std::string> jsonl_documents(const std::string& file, const std::string& text, const std::string& field) {
  std::vector<std::string> documents;
  std::size_t number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    std::string document;
    const std::string problem = read_line(line, field, document);
    if (!problem.empty()) throw FormatError(file, "line " + std::to_string(number) + ": " + problem);
    documents.push_back(std::move(document));
  }
  return documents;
}

}  // namespace

Corpus read_text(const DataConfig& config) {
  Corpus corpus;
  corpus.field = "data.text";
  ContentHash hash;
  for (const fs::path& file : text_files(config.text)) {
    const std::string text = read_utf8(file);
    hash.add(text);
    part_file(text, config.validation_share, corpus);
  }
  corpus.hash = hash.hex();
  return corpus;
}

Corpus read_jsonl(const DataConfig& config) {
  Corpus corpus;
  corpus.field = "data.jsonl";
  const std::string text = read_utf8(config.jsonl);
  corpus.hash = ContentHash().add(text).add(config.jsonl_field).hex();
  const std::vector<std::string> documents = jsonl_documents(config.jsonl, text, config.jsonl_field);
  std::vector<std::uint64_t> contents;
  for (const std::string& document : documents) contents.push_back(ContentHash().add(document).value());
  const HeldOut held_out =
      HeldOut::among_enough(contents, config.validation_share, corpus.field, "different documents in " + config.jsonl);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    (held_out.contains(contents[i]) ? corpus.held_out : corpus.training).push_back({documents[i], true});
  }
  return corpus;
}

}  // namespace engine::data
