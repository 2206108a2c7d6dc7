#include "app/screenshots.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QPixmap>
#include <functional>
#include <string>

#include "app/analysis_page.h"
#include "app/main_window.h"
#include "app/training_page.h"
#include "engine/error.h"

namespace app {

namespace {

constexpr int kLongestWait = 60'000;  // ms

void wait_while(const std::function<bool()>& condition) {
  QElapsedTimer clock;
  clock.start();
  do {
    QApplication::processEvents(QEventLoop::AllEvents, 20);
  } while (condition() && clock.elapsed() < kLongestWait);
}

void settle() {
  QElapsedTimer clock;
  clock.start();
  wait_while([&] { return clock.elapsed() < 300; });  // the plots' own timers
}

void save(MainWindow& window, const QString& file) {
  if (!window.grab().save(file, "PNG")) {
    throw engine::FileError(file.toStdString(),
                            "the picture could not be written; check the folder and its free space");
  }
}

}  // namespace

void take_screenshots(MainWindow& window, const QString& folder) {
  if (!QDir().mkpath(folder)) throw engine::FileError(folder.toStdString(), "the folder could not be made");
  window.show();
  wait_while([&] { return window.reading() || window.rollouts_page().busy(); });
  window.show_page("training");
  window.training_page().update_now();
  settle();
  save(window, folder + "/training.png");
  for (AnalysisPage* page : window.analysis_pages()) {
    window.show_page(page->words().id);
    wait_while([&] { return page->busy(); });
    settle();
    save(window, folder + "/" + page->words().id + ".png");
  }
  window.show_page("rollouts");
  if (!window.rollouts_page().model().key.empty()) window.rollouts_page().run_example();
  wait_while([&] { return window.rollouts_page().busy(); });
  settle();
  save(window, folder + "/rollouts.png");
}

}  // namespace app
