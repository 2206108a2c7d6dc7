// The Rollouts page: one prompt, one Run, a column each for Standard, Soft and Fused.
#pragma once

#include <QTimer>
#include <QWidget>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/inference_worker.h"
#include "app/session_store.h"
#include "app/view_state.h"

class QAction;
class QComboBox;
class QLabel;
class QMenu;
class QPushButton;

namespace widgets {
class Banner;
class Card;
class FigureSource;
}  // namespace widgets

namespace app {

class RolloutColumn;
class RolloutControls;

class RolloutsPage : public QWidget {
  Q_OBJECT

 public:
  /// Opens the decoder of a run by its key, on the worker's thread; tests give a fake.
  using Opener = std::function<std::unique_ptr<Decoder>(const std::string& key)>;

  explicit RolloutsPage(Opener open, QWidget* parent = nullptr);
  ~RolloutsPage() override;

  /// Loads the run's newest checkpoint; an empty key says that there is no model.
  /// `again`: even if it is loaded already, because it has been trained on.
  void load(const std::string& key, bool again = false);
  /// Key of the run in training, empty for none: each Run takes a copy of its present model.
  void set_live(const std::string& key) { live_key_ = key; }
  void set_form(const RolloutForm& form);
  [[nodiscard]] RolloutForm form() const;
  void set_token_color(const std::string& name);
  [[nodiscard]] std::string token_color() const;
  /// What it is doing, for the status line; empty when it rests.
  [[nodiscard]] QString activity() const;

  /// Run and cancel are one action: it names what it would do.
  [[nodiscard]] QAction* run_action() const { return run_; }
  [[nodiscard]] std::vector<QAction*> actions() const { return {run_, copy_, save_}; }
  [[nodiscard]] bool busy() const;
  [[nodiscard]] const ModelInfo& model() const { return model_; }
  /// What can be exported as a figure: one a column.
  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const;
  [[nodiscard]] std::vector<engine::Rollout> finished() const;
  /// Puts the first example into an empty prompt and runs it when the model is there (screenshots).
  void run_example();
  void focus_prompt();
  /// Shows a sentence about this page.
  void show_error(const QString& sentence);

 signals:
  void form_changed();
  void token_color_changed(const QString& name);
  void model_changed();
  void busy_changed();
  /// A finished rollout's cache and likelihood are asked for.
  void rebuild_wanted(const engine::Rollout& rollout);

 private:
  void build();
  QWidget* make_footer();
  void run_or_cancel();
  void run();
  void poll();
  void take(const RolloutEvent& event);
  void model_arrived(const WorkerSnapshot& snapshot);
  void show_divergence();
  void show_state();
  void copy_rollouts();
  void save_rollouts();
  void fill_rebuild_menu();

  Opener open_;
  RolloutControls* controls_ = nullptr;
  std::array<RolloutColumn*, 3> columns_{};
  widgets::Banner* banner_ = nullptr;
  widgets::Card* prompt_card_ = nullptr;
  QLabel* divergence_ = nullptr;
  QLabel* legend_ = nullptr;
  QComboBox* color_ = nullptr;
  QPushButton* rebuild_ = nullptr;
  QMenu* rebuild_menu_ = nullptr;
  QAction* run_;
  QAction* copy_;
  QAction* save_;
  ModelInfo model_;
  std::string wanted_key_;
  std::string live_key_;
  std::uint64_t ticket_ = 0;
  WorkerSnapshot::State state_ = WorkerSnapshot::State::empty;
  bool run_when_ready_ = false;
  QTimer timer_;
  InferenceWorker worker_;  // last: its thread ends first
};

}  // namespace app
