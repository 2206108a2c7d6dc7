// What to export a figure as: format, size, small print. The caller asks for the file and reports errors.
#pragma once

#include <QWidget>

#include "widgets/figure_export.h"

class QCheckBox;
class QComboBox;
class QPushButton;

namespace widgets {

class ExportPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ExportPanel(QWidget* parent = nullptr);
  /// The figures to choose from, by name.
  void set_figures(const QStringList& names);
  void set_metadata(const FigureMetadata& metadata) { metadata_ = metadata; }
  [[nodiscard]] int figure() const;
  [[nodiscard]] FigureOptions options() const;

 signals:
  void export_requested();
  void copy_requested();

 private:
  QComboBox* add_choice(const QString& label, const QStringList& choices);

  QComboBox* figure_;
  QComboBox* format_;
  QComboBox* size_;
  QCheckBox* caption_;
  QPushButton* export_;
  QPushButton* copy_;
  FigureMetadata metadata_;
};

}  // namespace widgets
