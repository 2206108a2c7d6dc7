// Settings of several runs side by side: a row a setting, a column a run; by default only what differs.
#pragma once

#include <QAbstractTableModel>
#include <QTableView>
#include <nlohmann/json.hpp>
#include <vector>

#include "widgets/figure_export.h"

namespace widgets {

struct RunSettings {
  QString name;
  nlohmann::json settings;  ///< nested objects; their members become "train.rate"
  int color = 0;            ///< index into the run colours
};

class RunTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;
  void set_runs(std::vector<RunSettings> runs);
  void set_only_differences(bool only);
  [[nodiscard]] bool only_differences() const { return only_differences_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    QString name;
    std::vector<QString> values;
    bool differs = false;
  };
  void rebuild();
  [[nodiscard]] const Row& row(int shown) const {
    return rows_[static_cast<std::size_t>(shown_[static_cast<std::size_t>(shown)])];
  }

  std::vector<RunSettings> runs_;
  std::vector<Row> rows_;
  std::vector<int> shown_;
  bool only_differences_ = true;
};

class RunTable : public QTableView {
  Q_OBJECT

 public:
  explicit RunTable(QWidget* parent = nullptr);
  [[nodiscard]] RunTableModel& table() { return *model_; }
  /// The table as shown, for CSV and the clipboard (Ctrl+C).
  [[nodiscard]] FigureTable to_table() const;

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  RunTableModel* model_;
};

}  // namespace widgets
