// Export of what the page shows: each figure as PDF, SVG, PNG or CSV, or onto the clipboard.
#pragma once

#include <QMenu>
#include <functional>
#include <vector>

#include "widgets/figure_export.h"

class QActionGroup;

namespace app {

class ExportMenu : public QMenu {
  Q_OBJECT

 public:
  using Figures = std::function<std::vector<const widgets::FigureSource*>()>;
  using Metadata = std::function<widgets::FigureMetadata()>;

  /// Both are asked each time the menu opens.
  ExportMenu(Figures figures, Metadata metadata, QWidget* parent);

  /// Writes without asking; for the dialog and for tests. engine::FileError when it cannot.
  void write(const widgets::FigureSource& source, widgets::FigureFormat format, const QString& file) const;

 signals:
  void failed(const QString& sentence);
  void done(const QString& sentence);

 private:
  void fill();
  void add_figure(const widgets::FigureSource* source);
  void add_sizes();
  void ask_and_write(const widgets::FigureSource* source, widgets::FigureFormat format);
  void copy(const widgets::FigureSource* source);
  [[nodiscard]] widgets::FigureOptions options(widgets::FigureFormat format) const;

  Figures figures_;
  Metadata metadata_;
  std::size_t size_ = 0;
  bool caption_ = false;
};

}  // namespace app
