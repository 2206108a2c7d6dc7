// Which changes to the channel are measured, and how strong: a menu of kinds and a box for each strength.
#pragma once

#include <QWidget>
#include <array>
#include <vector>

#include "engine/interventions.h"

class QAction;
class QDoubleSpinBox;

namespace app {

class FormMemory;

class InterventionChooser : public QWidget {
  Q_OBJECT

 public:
  explicit InterventionChooser(QWidget* parent = nullptr);
  /// In the order of the menu; never empty: the last one cannot be taken away.
  [[nodiscard]] std::vector<engine::InterventionChoice> choices() const;
  void remember(FormMemory& settings);

 signals:
  /// By the user.
  void chosen();

 private:
  void add_kinds();
  void kind_toggled(QAction* action);
  [[nodiscard]] double amount_of(engine::Intervention kind) const;

  std::vector<QAction*> kinds_;
  QDoubleSpinBox* temperature_;
  QDoubleSpinBox* scale_;
};

}  // namespace app
