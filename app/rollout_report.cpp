#include "app/rollout_report.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/data/tokenizer.h"
#include "engine/json_io.h"

namespace app {

namespace {

using nlohmann::json;

/// Bytes that are not a whole character show as <0xNN>, so that every text is UTF-8.
std::string shown(const std::string& bytes) {
  engine::data::Utf8Stream stream;
  std::string text = stream.push(bytes);
  return text + stream.finish();
}

json token_json(const engine::RolloutToken& token) {
  return {{"id", token.id},
          {"text", shown(token.bytes)},
          {"logprob", engine::shortest_double(token.logprob)},
          {"entropy", engine::shortest_double(token.entropy)},
          {"ms", token.milliseconds}};
}

json rollout_json(const engine::Rollout& rollout) {
  const engine::RolloutRequest& request = rollout.request;
  json tokens = json::array();
  for (const auto& token : rollout.tokens) tokens.push_back(token_json(token));
  return {{"mode", to_string(request.mode)},
          {"prompt", shown(request.prompt)},
          {"max_tokens", request.max_tokens},
          {"temperature", engine::shortest_double(request.sampler.temperature)},
          {"top_k", request.sampler.top_k},
          {"top_p", engine::shortest_double(request.sampler.top_p)},
          {"seed", request.sampler.seed},
          {"stop_strings", request.stop_strings},
          {"prompt_tokens", rollout.prompt_tokens},
          {"token_count", rollout.tokens.size()},
          {"prefill_passes", rollout.prefill_passes},
          {"prefill_ms", rollout.prefill_milliseconds},
          {"ms_per_token", milliseconds_per_token(rollout)},
          {"stop", to_string(rollout.stop)},
          {"text", rollout.text},
          {"tokens", tokens}};
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string number(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end.ptr};
}

bool same_token(const std::vector<const engine::Rollout*>& rollouts, std::size_t place) {
  const std::int32_t id = rollouts.front()->tokens[place].id;
  return std::all_of(rollouts.begin(), rollouts.end(),
                     [&](const engine::Rollout* rollout) { return rollout->tokens[place].id == id; });
}

}  // namespace

std::optional<std::size_t> first_divergence(const std::vector<const engine::Rollout*>& rollouts) {
  if (rollouts.size() < 2) return std::nullopt;
  std::size_t shortest = rollouts.front()->tokens.size();
  std::size_t longest = shortest;
  for (const engine::Rollout* rollout : rollouts) {
    shortest = std::min(shortest, rollout->tokens.size());
    longest = std::max(longest, rollout->tokens.size());
  }
  for (std::size_t place = 0; place < shortest; ++place) {
    if (!same_token(rollouts, place)) return place;
  }
  if (shortest < longest) return shortest;
  return std::nullopt;
}

double milliseconds_per_token(const engine::Rollout& rollout) {
  if (rollout.tokens.empty()) return 0;
  double total = 0;
  for (const auto& token : rollout.tokens) total += token.milliseconds;
  return total / static_cast<double>(rollout.tokens.size());
}

json rollouts_json(const ModelInfo& model, const std::vector<engine::Rollout>& rollouts) {
  json list = json::array();
  for (const auto& rollout : rollouts) list.push_back(rollout_json(rollout));
  return {{"run", model.name}, {"step", model.step}, {"device", model.device}, {"rollouts", list}};
}

std::string rollouts_csv(const ModelInfo& model, const std::vector<engine::Rollout>& rollouts) {
  std::string csv = "run,step,mode,seed,position,id,text,logprob,entropy,ms\n";
  for (const auto& rollout : rollouts) {
    const std::string start = quoted(model.name) + ',' + std::to_string(model.step) + ',' +
                              to_string(rollout.request.mode) + ',' + std::to_string(rollout.request.sampler.seed);
    for (std::size_t place = 0; place < rollout.tokens.size(); ++place) {
      const auto& token = rollout.tokens[place];
      csv += start + ',' + std::to_string(place + 1) + ',' + std::to_string(token.id) + ',' +
             quoted(shown(token.bytes)) + ',' + number(engine::shortest_double(token.logprob)) + ',' +
             number(engine::shortest_double(token.entropy)) + ',' + number(token.milliseconds) + '\n';
    }
  }
  return csv;
}

std::vector<std::string> parse_stop_strings(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string value;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char next = line[i] == '\\' && i + 1 < line.size() ? line[i + 1] : '\0';
      const bool escape = next == 'n' || next == 't' || next == '\\';
      if (escape) ++i;
      value += !escape ? line[i] : next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
    }
    if (!value.empty()) all.push_back(value);
  }
  return all;
}

}  // namespace app
