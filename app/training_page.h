// The Training page: charts on the left, the recipe, its buttons and what holds now on the right.
#pragma once

#include <QWidget>
#include <memory>
#include <string>
#include <vector>

#include "app/run_data.h"
#include "app/view_state.h"
#include "engine/recipe.h"

class QAction;

namespace widgets {
class Banner;
class Card;
class FigureSource;
class RunTable;
class StatTable;
}  // namespace widgets

namespace app {

class ChartToolbar;
class RecipePanel;
class RunLibrary;
class TrainingActions;
struct ShownRun;
class TrainingCharts;
class TrainingController;

class TrainingPage : public QWidget {
  Q_OBJECT

 public:
  TrainingPage(TrainingController& controller, RunLibrary& library, QWidget* parent = nullptr);

  /// The run whose values are shown first, and those laid over it, each with its run colour.
  struct Overlay {
    std::string key;
    int color = 0;
  };
  void show_runs(const std::vector<Overlay>& runs);
  void set_view(const ChartView& view);
  [[nodiscard]] ChartView view() const;

  void set_recipe(const engine::Recipe& recipe, std::uint64_t seed);
  [[nodiscard]] RecipePanel& recipe_panel() const { return *recipe_; }
  [[nodiscard]] std::vector<QAction*> actions() const;
  [[nodiscard]] TrainingActions& training() const { return *actions_; }
  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const;
  void show_error(const QString& sentence);
  /// Draws what waits now (screenshots).
  void update_now();

 signals:
  void view_changed();
  void recipe_changed();

 private:
  void build();
  void connect_parts();
  QWidget* make_side();
  void start();
  void continue_selected();
  void refresh_data();
  void show_differences(const std::vector<ShownRun>& shown);
  void refresh_now();
  void state_changed();
  [[nodiscard]] std::shared_ptr<const RunData> data_of(const std::string& key) const;
  [[nodiscard]] std::shared_ptr<const RunData> selected() const;

  TrainingController& controller_;
  RunLibrary& library_;
  TrainingActions* actions_;
  std::vector<Overlay> overlays_;
  widgets::Banner* banner_ = nullptr;
  ChartToolbar* toolbar_ = nullptr;
  TrainingCharts* charts_ = nullptr;
  RecipePanel* recipe_ = nullptr;
  widgets::RunTable* settings_ = nullptr;
  widgets::Card* settings_card_ = nullptr;
  widgets::StatTable* now_ = nullptr;
};

}  // namespace app
