#include "app/session_store.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "engine/error.h"

namespace app {

namespace {

using nlohmann::json;

constexpr std::size_t kRecentRuns = 12;

json to_json(const RolloutForm& form) {
  return {{"prompt", form.prompt}, {"stop_strings", form.stop_strings}, {"greedy", form.greedy},
          {"top_k", form.top_k},   {"temperature", form.temperature},   {"top_p", form.top_p},
          {"seed", form.seed},     {"max_tokens", form.max_tokens},     {"fused_passes", form.fused_passes}};
}

RolloutForm rollout_form_from_json(const json& object) {
  RolloutForm form;
  form.prompt = object.value("prompt", form.prompt);
  form.stop_strings = object.value("stop_strings", form.stop_strings);
  form.greedy = object.value("greedy", form.greedy);
  form.temperature = std::clamp(object.value("temperature", form.temperature), 0.01, 10.0);
  form.top_k = std::max<std::int64_t>(object.value("top_k", form.top_k), 0);
  form.top_p = std::clamp(object.value("top_p", form.top_p), 0.01, 1.0);
  form.max_tokens = std::clamp<std::int64_t>(object.value("max_tokens", form.max_tokens), 1, 100'000);
  form.seed = object.value("seed", form.seed);
  form.fused_passes = std::clamp(object.value("fused_passes", form.fused_passes), 1, 64);
  return form;
}

json to_json(const Session& session) {
  return {{"version", 1},
          {"theme", session.theme},
          {"geometry", session.geometry},
          {"runs_folder", session.runs_folder},
          {"recent_runs", session.recent_runs},
          {"current_run", session.current_run},
          {"view", to_json(session.view)},
          {"rollout", to_json(session.rollout)},
          {"analysis", session.analysis},
          {"recipe", session.recipe},
          {"training_seed", session.training_seed}};
}

Session session_from_json(const json& object) {
  Session session;
  session.theme = object.value("theme", session.theme);
  if (session.theme != "light" && session.theme != "dark") session.theme = "auto";
  session.geometry = object.value("geometry", session.geometry);
  session.runs_folder = object.value("runs_folder", session.runs_folder);
  session.recent_runs = object.value("recent_runs", session.recent_runs);
  session.current_run = object.value("current_run", session.current_run);
  session.view = view_state_from_json(object.value("view", json::object()));
  session.rollout = rollout_form_from_json(object.value("rollout", json::object()));
  session.analysis = object.value("analysis", json::object());
  if (!session.analysis.is_object()) session.analysis = json::object();
  session.recipe = object.value("recipe", json());
  session.training_seed = object.value("training_seed", session.training_seed);
  return session;
}

std::string set_aside(const std::filesystem::path& file) {
  std::filesystem::path aside = file;
  aside += ".bad";
  std::error_code error;
  std::filesystem::rename(file, aside, error);
  if (error) return "The settings file could not be read; the defaults are used.";
  return "The settings file could not be read; it was set aside as " + aside.filename().string() +
         " and the defaults are used.";
}

}  // namespace

void remember_run(Session& session, const std::string& key) {
  auto& recent = session.recent_runs;
  recent.erase(std::remove(recent.begin(), recent.end(), key), recent.end());
  recent.insert(recent.begin(), key);
  if (recent.size() > kRecentRuns) recent.resize(kRecentRuns);
}

LoadedSession load_session(const std::filesystem::path& file) {
  LoadedSession loaded;
  std::ifstream input(file, std::ios::binary);
  if (!input) return loaded;
  const std::string text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
  input.close();
  try {
    loaded.session = session_from_json(json::parse(text));
  } catch (const json::exception&) {
    loaded.session = Session{};
    loaded.problem = set_aside(file);
  }
  return loaded;
}

void save_session(const Session& session, const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  std::filesystem::path temporary = file;
  temporary += ".new";
  {
    std::ofstream output(temporary, std::ios::binary | std::ios::trunc);
    // Text that was typed may hold bytes that are not UTF-8: replacing them beats losing the session.
    output << to_json(session).dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    output.flush();
    if (!output) throw engine::FileError(file.string(), "could not be written; free some space or check its folder");
  }
  std::filesystem::rename(temporary, file, error);
  if (error) throw engine::FileError(file.string(), error.message());
}

}  // namespace app
