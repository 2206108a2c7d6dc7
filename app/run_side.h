// The left side of the window: the runs, and how to get more of them.
#pragma once

#include <QFrame>
#include <map>
#include <string>
#include <vector>

#include "app/run_library.h"

class QAction;
class QLabel;

namespace widgets {
class RunList;
}

namespace app {

class RunSide : public QFrame {
  Q_OBJECT

 public:
  RunSide(QAction* new_run, QAction* open_run, QWidget* parent = nullptr);
  void set_entries(const std::vector<RunEntry>& entries);
  /// Keys of the runs to show: the current one first, then those laid over it. Keys that are not listed yet are kept
  /// and selected when they come.
  void set_shown(const std::vector<std::string>& keys);
  [[nodiscard]] std::vector<std::string> shown() const { return shown_; }
  /// Index into the run colours; a run keeps its colour.
  [[nodiscard]] int color_of(const std::string& key);
  void focus_list();

 signals:
  /// By the user.
  void shown_changed();

 private:
  void read_selection();
  void select_shown();

  std::map<std::string, int> colors_;
  std::vector<std::string> shown_;
  widgets::RunList* list_;
  QLabel* empty_;
  bool selecting_ = false;
};

}  // namespace app
