#include "engine/data/task_document.h"

#include <string_view>

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

}  // namespace

Document task_document(const Example& example, const Tokenizer& tokenizer) {
  Document document;
  add_text(document, example.prompt, example.prompt_answers, tokenizer);
  const std::size_t end = example.completion.size();
  add_text(document, example.completion, {{end - example.answer.size(), end}}, tokenizer);
  document.add(tokenizer.end_of_text(), TokenRole::after_answer);
  return document;
}

}  // namespace engine::data
