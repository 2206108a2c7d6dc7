// The session that the next start finds again: settings, recent runs, the view, and everything that was typed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/view_state.h"

namespace app {

/// What the Rollouts page asks for, as typed.
struct RolloutForm {
  std::string prompt;
  std::string stop_strings;  ///< one a line, \n for a line break
  bool greedy = true;
  double temperature = 0.8;
  std::int64_t top_k = 0;
  double top_p = 1.0;
  std::int64_t max_tokens = 64;
  std::uint64_t seed = 1;
  int fused_passes = 1;

  friend bool operator==(const RolloutForm&, const RolloutForm&) = default;
};

struct Session {
  std::string theme = "auto";            ///< auto | light | dark
  std::string geometry;                  ///< QWidget::saveGeometry() in base64
  std::string runs_folder;               ///< where new runs go and the run list looks; empty = the default
  std::vector<std::string> recent_runs;  ///< newest first
  std::string current_run;               ///< key of the run whose model is loaded
  ViewState view;
  RolloutForm rollout;
  nlohmann::json analysis = nlohmann::json::object();  ///< controls of the pages that measure, by page
  nlohmann::json recipe;                               ///< the training form as it was left; null when untouched
  std::uint64_t training_seed = 1;

  friend bool operator==(const Session&, const Session&) = default;
};

struct LoadedSession {
  Session session;
  std::string problem;  ///< one sentence when the file could not be used and was set aside
};

/// Moves the run to the front of the recent ones, which stay at most twelve.
void remember_run(Session& session, const std::string& key);

/// A missing file gives the defaults; one that cannot be read is renamed to `<file>.bad` and said in `problem`.
LoadedSession load_session(const std::filesystem::path& file);
/// Atomically; FileError when the folder or file cannot be written.
void save_session(const Session& session, const std::filesystem::path& file);

}  // namespace app
