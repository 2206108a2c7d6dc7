// What a rollout is asked with: the prompt, the sampler, the limits, and one Run button.
#pragma once

#include <QWidget>
#include <vector>

#include "app/inference_worker.h"
#include "app/session_store.h"
#include "engine/rollout_types.h"

class QAction;
class QComboBox;
class QDoubleSpinBox;
class QLineEdit;
class QMenu;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace app {

class RolloutControls : public QWidget {
  Q_OBJECT

 public:
  /// `run` is the action behind the Run button.
  explicit RolloutControls(QAction* run, QWidget* parent = nullptr);
  void set_form(const RolloutForm& form);
  [[nodiscard]] RolloutForm form() const;
  /// Fills the menu of examples.
  void set_examples(const std::vector<ExamplePrompt>& examples);
  void focus_prompt();

 signals:
  void changed();

 private:
  void add_sampler();
  void enable_sampler();

  QPlainTextEdit* prompt_;
  QComboBox* sampler_;
  QSpinBox* max_tokens_;
  QSpinBox* seed_;
  QDoubleSpinBox* temperature_;
  QSpinBox* top_k_;
  QDoubleSpinBox* top_p_;
  QSpinBox* fused_passes_;
  QLineEdit* stop_strings_;
  QPushButton* examples_;
  QMenu* examples_menu_;
};

/// The three requests of a form, in the order Standard, Soft, Fused.
std::vector<engine::RolloutRequest> to_requests(const RolloutForm& form);

}  // namespace app
