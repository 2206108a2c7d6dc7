// Times the window without a display: from the start of the process to the first paint with the shipped model, frames
// of a plot with 20 runs of 100,000 points that is scrolled and zoomed, and the share of a core that the window takes
// while a model trains at full speed. Not a test; prints milliseconds, frames/s and shares.
//
// window_bench [start] [plot] [train]: these parts alone; without arguments all of them.
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <QEventLoop>
#include <QImage>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <random>
#include <string>

#include "app/main_window.h"
#include "app/recipes.h"
#include "app/thread_clock.h"
#include "app/training_page.h"
#include "tests/app/run_folders.h"
#include "widgets/plot.h"
#include "widgets/style.h"

namespace {

/// Milliseconds since this process started (the kernel counts in hundredths of a second).
double since_process_start() {
  std::ifstream stat("/proc/self/stat");
  std::string field;
  for (int i = 0; i < 22; ++i) stat >> field;  // the program's name has no blank
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return 1e3 * (static_cast<double>(now.tv_sec) - std::stod(field) / ticks) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double cpu_milliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class FirstPaint : public QObject {
 public:
  bool eventFilter(QObject* /*object*/, QEvent* event) override {
    if (event->type() == QEvent::Paint) seen = true;
    return false;
  }
  bool seen = false;
};

void time_start(widgets::ThemeController& theme) {
  app::WindowOptions options;
  options.run = "demo";
  FirstPaint paint;
  app::MainWindow window(theme, options);
  window.installEventFilter(&paint);
  window.show();
  while (!paint.seen) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  QCoreApplication::processEvents();
  std::printf("start to first paint: %.0f ms, of which %.0f ms of processor time\n", since_process_start(),
              cpu_milliseconds());
}

std::vector<widgets::Series> many_series() {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.1);
  std::vector<widgets::Series> all;
  for (int run = 0; run < 20; ++run) {
    widgets::Series series;
    series.label = "run " + std::to_string(run);
    series.style.role = widgets::Role::run;
    series.style.run = run;
    for (int step = 1; step <= 100'000; ++step) {
      series.x.push_back(step);
      series.y.push_back(3 * std::exp(-step / 3e4) + 0.05 * run + noise(random));
    }
    all.push_back(std::move(series));
  }
  return all;
}

/// Frames a second of `move`, each painted whole.
template <typename Move>
void time_frames(widgets::Plot& plot, const char* what, const Move& move) {
  constexpr int kFrames = 60;
  QImage image(plot.size(), QImage::Format_ARGB32_Premultiplied);
  plot.render(&image);
  QElapsedTimer timer;
  timer.start();
  const double cpu = cpu_milliseconds();
  for (int frame = 0; frame < kFrames; ++frame) {
    move(frame);
    plot.render_now();
    plot.render(&image);
  }
  std::printf("20 runs x 100,000 points, %s: %.0f frames/s (%.1f ms of processor time a frame)\n", what,
              1e3 * kFrames / static_cast<double>(timer.elapsed()), (cpu_milliseconds() - cpu) / kFrames);
}

void time_plot() {
  widgets::Plot plot;
  plot.resize(900, 500);
  plot.set_series(many_series());
  plot.show();
  QCoreApplication::processEvents();
  time_frames(plot, "scrolled", [&](int frame) { plot.zoom_x_to({1000.0 * frame, 1000.0 * frame + 40'000}); });
  time_frames(plot, "zoomed", [&](int frame) { plot.zoom_x_to({0, 100'000 * std::pow(0.93, frame)}); });
  widgets::PlotView smooth;
  smooth.smoothing = 0.9;
  plot.set_view(smooth);
  time_frames(plot, "scrolled, smoothed", [&](int frame) {
    plot.zoom_x_to({1000.0 * frame, 1000.0 * frame + 40'000});
  });
}

void run_loop(int milliseconds) {
  QEventLoop loop;
  QTimer::singleShot(milliseconds, &loop, &QEventLoop::quit);
  loop.exec();
}

engine::Recipe tiny_recipe() {
  engine::Recipe recipe = app::shipped_recipe("demo");
  recipe.train.rows = 2;
  app_tests::make_tiny(recipe.model);
  return recipe;
}

void time_training(widgets::ThemeController& theme, const char* what, engine::Recipe recipe) {
  constexpr int kSettle = 10'000;  // ms
  constexpr int kMeasure = 20'000;
  const QTemporaryDir runs;
  recipe.train.steps = 1'000'000;
  app::MainWindow window(theme, {});
  window.resize(1280, 800);
  window.controller().set_runs_folder(runs.path().toStdString());
  window.show();
  window.show_page("training");
  const auto* loss = dynamic_cast<const widgets::Plot*>(window.training_page().figures().front());
  window.controller().start(recipe, 1);
  run_loop(kSettle);
  const std::int64_t step = window.controller().now().step;
  const std::int64_t drawn = loss->replots();
  const double cpu = app::thread_milliseconds();
  QElapsedTimer timer;
  timer.start();
  run_loop(kMeasure);
  const double seconds = 1e-3 * static_cast<double>(timer.elapsed());
  std::printf("training %s, %.0f steps/s: the window takes %.1f %% of a core, curves drawn %.1f times/s\n", what,
              static_cast<double>(window.controller().now().step - step) / seconds,
              0.1 * (app::thread_milliseconds() - cpu) / seconds,
              static_cast<double>(loss->replots() - drawn) / seconds);
  window.controller().stop_and_discard();
  while (window.controller().busy()) run_loop(50);
}

bool wanted(int argc, char** argv, const std::string& part) {
  if (argc < 2) return true;
  return std::any_of(argv + 1, argv + argc, [&](const char* argument) { return part == argument; });
}

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  widgets::ThemeController theme(application);
  if (wanted(argc, argv, "start")) time_start(theme);
  if (wanted(argc, argv, "plot")) time_plot();
  if (!wanted(argc, argv, "train")) return 0;
  time_training(theme, "the shipped recipe", app::shipped_recipe("demo"));
  time_training(theme, "a tiny model", tiny_recipe());
}
