// The window: bar, run list, pages, help, status line; the session that comes back; the question before closing.
#pragma once

#include <QTimer>
#include <QWidget>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/analysis_worker.h"
#include "app/rollouts_page.h"
#include "app/session_store.h"
#include "app/training_controller.h"
#include "app/view_state.h"
#include "widgets/figure_export.h"

class QAction;
class QMenu;
class QMessageBox;
class QStackedWidget;

namespace widgets {
class Banner;
class ThemeController;
}  // namespace widgets

namespace app {

class AnalysisPage;
class CachePage;
class CommandPalette;
class ExportMenu;
class HelpPanel;
class PageSwitch;
class RunLibrary;
class RunSide;
class StatusLine;
class TrainingPage;
class WindowBar;

struct WindowOptions {
  std::filesystem::path session_file;  ///< empty: nothing is restored or saved
  std::string run;                     ///< key of the run to open, empty for the session's
  QString theme;                       ///< overrides the session's when not empty
  JobMaker make_job = real_jobs();
  RolloutsPage::Opener open_decoder;     ///< the real one when empty
  AnalysisWorker::Opener open_analysis;  ///< the real one when empty
};

class MainWindow : public QWidget {
  Q_OBJECT

 public:
  MainWindow(widgets::ThemeController& theme, WindowOptions options);
  ~MainWindow() override;

  [[nodiscard]] TrainingController& controller() { return controller_; }
  [[nodiscard]] TrainingPage& training_page() { return *training_; }
  [[nodiscard]] RolloutsPage& rollouts_page() { return *rollouts_; }
  [[nodiscard]] const std::vector<AnalysisPage*>& analysis_pages() const { return analysis_; }
  [[nodiscard]] RunLibrary& library() { return *library_; }
  [[nodiscard]] const std::vector<QAction*>& actions_of_window() const { return all_actions_; }
  void show_page(const std::string& page);
  /// Opens a run folder, or "demo", and loads its model. False when the folder holds no run; a banner says why.
  bool open_run(const std::string& key);
  void show_message(const QString& sentence, bool error = true);
  /// Writes the session now instead of soon.
  void save_session_now();
  /// Whether runs are still being listed or read.
  [[nodiscard]] bool reading() const;
  /// Key of the selected run, empty for none.
  [[nodiscard]] const std::string& current_run() const { return session_.current_run; }

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  void build();
  void make_pages();
  void make_actions();
  void make_page_actions();
  void make_rollout_parts(CachePage* cache, AnalysisPage* batch);
  QMenu* make_menu();
  void fill_recent_runs(QMenu* menu);
  void connect_parts();
  /// Loads the session and puts on its theme; gives what went wrong.
  [[nodiscard]] std::string load_stored_session();
  void restore_session(const std::string& problem);
  void apply_view(const ViewState& view);
  void view_changed();
  void remember_view();
  [[nodiscard]] ViewState present_view() const;
  void session_changed();
  void runs_selected();
  void training_started(const QString& key);
  void training_changed();
  void update_live_entry();
  void refresh_status();
  void tell_live_step();
  void tell_analysis_pages(const std::vector<std::string>& keys);
  [[nodiscard]] std::string present_page() const;
  /// Of the page that is shown; nullptr for Training and the rollouts of one prompt.
  [[nodiscard]] const AnalysisPage* present_analysis() const;
  [[nodiscard]] std::vector<const widgets::FigureSource*> present_figures() const;
  void new_run();
  void choose_run();
  void choose_runs_folder();
  void set_theme(const QString& name);
  void toggle_help();
  void take_recipe();
  void ask_before_closing();
  void close_after(void (TrainingController::*stop)());
  [[nodiscard]] widgets::FigureMetadata figure_metadata();

  widgets::ThemeController& theme_;
  WindowOptions options_;
  Session session_;
  ViewHistory history_;
  TrainingController controller_;
  RunLibrary* library_;
  TrainingPage* training_ = nullptr;
  RolloutsPage* rollouts_ = nullptr;
  PageSwitch* rollout_parts_ = nullptr;  ///< one prompt, a batch, caches
  std::vector<AnalysisPage*> analysis_;  ///< in the order of the bar
  QStackedWidget* pages_ = nullptr;
  RunSide* side_ = nullptr;
  HelpPanel* help_ = nullptr;
  StatusLine* status_ = nullptr;
  WindowBar* bar_ = nullptr;
  widgets::Banner* banner_ = nullptr;
  CommandPalette* palette_ = nullptr;
  ExportMenu* export_menu_ = nullptr;
  QMessageBox* question_ = nullptr;
  std::vector<QAction*> page_actions_;
  std::vector<QAction*> part_actions_;  ///< of the parts of the Rollouts page
  std::vector<QAction*> file_actions_;
  std::vector<QAction*> view_actions_;
  std::vector<QAction*> help_actions_;
  std::vector<QAction*> all_actions_;
  QAction* undo_ = nullptr;
  QAction* redo_ = nullptr;
  QTimer save_soon_;
  QTimer remember_soon_;
  bool applying_view_ = false;
  bool closing_ = false;
};

}  // namespace app
