// The session on disk: what comes back, and what a broken file does.
#include "app/session_store.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <fstream>

namespace {

using app::Session;

class SessionStoreTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return dir_.path().toStdString() + "/new/模型 ünï/session.json"; }
  void write(const std::string& text) const {
    std::filesystem::create_directories(file().parent_path());
    std::ofstream(file()) << text;
  }
  QTemporaryDir dir_;
};

Session filled() {
  Session session;
  session.theme = "dark";
  session.recent_runs = {"/runs/模型", "demo"};
  session.current_run = "demo";
  session.view.page = "rollouts";
  session.view.charts = {app::XAxis::wall, true, true, true, 0.97};
  session.view.shown_runs = {"demo", "/runs/模型"};
  session.rollout.prompt = "state = 1\nscratch = 12\t\xF0\x9F\x98\x80";
  session.rollout.stop_strings = "\\n";
  session.rollout.greedy = false;
  session.rollout.temperature = 1.25;
  session.rollout.seed = 99;
  session.analysis = {{"channel", {{"rows", 5}}}};
  session.recipe = {{"name", "mine"}};
  session.training_seed = 12345678901;
  return session;
}

TEST_F(SessionStoreTest, EverythingTypedComesBack) {
  app::save_session(filled(), file());
  const auto loaded = app::load_session(file());
  EXPECT_EQ(loaded.session, filled());
  EXPECT_TRUE(loaded.problem.empty());
}

TEST_F(SessionStoreTest, AMissingFileGivesTheDefaultsWithoutAWord) {
  const auto loaded = app::load_session(file());
  EXPECT_EQ(loaded.session, Session{});
  EXPECT_TRUE(loaded.problem.empty());
}

class BrokenSession : public SessionStoreTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(BrokenSession, IsSetAsideAndSaid) {
  write(GetParam());
  const auto loaded = app::load_session(file());
  EXPECT_EQ(loaded.session, Session{});
  EXPECT_NE(loaded.problem.find("session.json.bad"), std::string::npos) << loaded.problem;
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_TRUE(std::filesystem::exists(file().string() + ".bad")) << "the user's file is kept";
  EXPECT_TRUE(app::load_session(file()).problem.empty()) << "it is said once";
}

INSTANTIATE_TEST_SUITE_P(Files, BrokenSession,
                         ::testing::Values("", R"({"version": 1, "theme": "da)", R"({"theme": 5})",
                                           R"({"view": {"smoothing": "much"}})", R"({"recent_runs": "all"})",
                                           R"([1, 2])", "\xFF\xFE\x01", R"({"rollout": {"seed": "one"}})"));

TEST_F(SessionStoreTest, ValuesOutOfRangeAreBroughtBack) {
  write(R"({"theme": "pink", "view": {"smoothing": 7, "page": "nowhere"}, "rollout": {"max_tokens": -3, "top_p": 9}})");
  const auto loaded = app::load_session(file());
  EXPECT_TRUE(loaded.problem.empty());
  EXPECT_EQ(loaded.session.theme, "auto");
  EXPECT_EQ(loaded.session.view.page, "training");
  EXPECT_EQ(loaded.session.view.charts.smoothing, 0.999);
  EXPECT_EQ(loaded.session.rollout.max_tokens, 1);
  EXPECT_EQ(loaded.session.rollout.top_p, 1.0);
}

TEST_F(SessionStoreTest, TextThatIsNotUtf8DoesNotLoseTheSession) {
  Session session = filled();
  session.rollout.prompt = "half \xE2\x82";
  app::save_session(session, file());
  EXPECT_EQ(app::load_session(file()).session.theme, "dark");
}

TEST_F(SessionStoreTest, AFolderThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(app::save_session(filled(), "/proc/no/session.json"), std::runtime_error);
}

TEST(RecentRuns, AreUniqueNewestFirstAndFew) {
  Session session;
  for (int i = 0; i < 30; ++i) app::remember_run(session, "run" + std::to_string(i % 20));
  EXPECT_EQ(session.recent_runs.size(), 12U);
  EXPECT_EQ(session.recent_runs.front(), "run9");
  app::remember_run(session, "run5");
  EXPECT_EQ(session.recent_runs.front(), "run5");
  EXPECT_EQ(session.recent_runs.size(), 12U);
}

TEST(ViewHistory, UndoesAndRedoes) {
  app::ViewHistory history;
  app::ViewState view;
  history.push(view);
  EXPECT_FALSE(history.can_undo()) << "an equal state is no change";
  view.charts.log_x = true;
  history.push(view);
  view.charts.smoothing = 0.2;
  history.push(view);
  EXPECT_EQ(history.undo().charts.smoothing, 0.6);
  EXPECT_FALSE(history.undo().charts.log_x);
  EXPECT_FALSE(history.can_undo());
  EXPECT_FALSE(history.undo().charts.log_x) << "harmless at the end";
  EXPECT_TRUE(history.redo().charts.log_x);
  view.page = "rollouts";
  history.push(view);
  EXPECT_FALSE(history.can_redo()) << "a new change forgets what was undone";
}

}  // namespace
