// The runs at the left of the window: colour, name, step, state. A model of values and a view; 300 runs are nothing.
#pragma once

#include <QAbstractListModel>
#include <QListView>
#include <cstdint>
#include <vector>

namespace widgets {

struct RunRow {
  QString folder;  ///< what tells runs apart
  QString name;
  QString state;    ///< "training", "done", "stopped", "failed", "broken"
  QString problem;  ///< one sentence, shown as tool tip; empty: none
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  int color = 0;  ///< index into the run colours

  friend bool operator==(const RunRow&, const RunRow&) = default;
};

class RunListModel : public QAbstractListModel {
  Q_OBJECT

 public:
  enum RunRole { kFolder = Qt::UserRole, kCaption, kColor, kActive, kProblem };

  using QAbstractListModel::QAbstractListModel;
  /// Rows that stay keep their place, so that selection and scrolling survive an update.
  void set_runs(std::vector<RunRow> runs);
  [[nodiscard]] const std::vector<RunRow>& runs() const { return runs_; }
  [[nodiscard]] int row_of(const QString& folder) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

 private:
  std::vector<RunRow> runs_;
};

/// One current run; with Ctrl or Shift several are selected, to be drawn over each other.
class RunList : public QListView {
  Q_OBJECT

 public:
  explicit RunList(QWidget* parent = nullptr);
  void set_runs(std::vector<RunRow> runs);
  [[nodiscard]] RunListModel& runs() { return *model_; }
  [[nodiscard]] QString current_folder() const;
  [[nodiscard]] QStringList selected_folders() const;
  void select(const QString& folder);

 signals:
  void current_run_changed(const QString& folder);
  void selection_changed(const QStringList& folders);

 protected:
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
  void selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) override;

 private:
  RunListModel* model_;
};

}  // namespace widgets
