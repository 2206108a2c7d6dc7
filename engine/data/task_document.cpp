#include "engine/data/task_document.h"

#include <string_view>

#include "engine/error.h"

namespace engine::data {
namespace {

void add_text(Document& document, std::string_view text, const std::vector<TextSpan>& answers,
              const Tokenizer& tokenizer) {
  std::size_t begin = 0;
  for (const std::int32_t token : tokenizer.encode(text)) {
    if (answers.empty()) {
      document.add(token, TokenRole::other);
      continue;
    }
    const std::size_t end = begin + tokenizer.bytes(token).size();
    bool inside = false;
    for (const TextSpan& span : answers) inside = inside || (begin < span.end && span.begin < end);
    document.add(token, inside ? TokenRole::answer : TokenRole::other);
    begin = end;
  }
}

std::int32_t single_token(const std::string& text, const Tokenizer& tokenizer) {
  const std::vector<std::int32_t> tokens = tokenizer.encode(text);
  if (tokens.size() == 1) return tokens.front();
  throw ConfigError("data.tokenizer", "an answer that the text does not show must be one token, and \"" + text +
                                          "\" is " + std::to_string(tokens.size()) + " here; use symbols");
}

/// The document so far is the prompt.
void add_hidden_answers(Document& document, const std::vector<HiddenAnswer>& answers, const Tokenizer& tokenizer) {
  auto answer = answers.begin();
  std::size_t end = 0;
  for (std::size_t i = 0; i < document.tokens.size() && answer != answers.end(); ++i) {
    end += tokenizer.bytes(document.tokens[i]).size();
    if (end != answer->end) continue;
    document.hidden[i] = single_token(answer->text, tokenizer);
    ++answer;
  }
  if (answer != answers.end()) {
    throw ConfigError("data.tokenizer", "a hidden answer ends inside a token here; use symbols");
  }
}

}  // namespace

Document task_document(const Example& example, const Tokenizer& tokenizer) {
  Document document;
  add_text(document, example.prompt, example.prompt_answers, tokenizer);
  add_hidden_answers(document, example.hidden_answers, tokenizer);
  const std::size_t end = example.completion.size();
  add_text(document, example.completion, {{end - example.answer.size(), end}}, tokenizer);
  document.add(tokenizer.end_of_text(), TokenRole::after_answer);
  return document;
}

}  // namespace engine::data
