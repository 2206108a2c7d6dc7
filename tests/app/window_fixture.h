// A window on fakes, in a folder of its own, and what tests ask of its widgets.
#pragma once

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "app/main_window.h"
#include "tests/app/fake_decoder.h"
#include "tests/app/run_folders.h"
#include "tests/support/fake_job.h"
#include "widgets/style.h"

namespace app_tests {

class WindowTest : public ::testing::Test {
 protected:
  static widgets::ThemeController& theme() {
    static widgets::ThemeController controller(*qApp);
    return controller;
  }

  app::WindowOptions options() {
    app::WindowOptions options;
    options.session_file = folder() / "config" / "session.json";
    options.make_job = [this](const app::TrainingRequest& request) {
      support::FakeOptions mine = job_;
      mine.folder = request.folder;
      return std::make_unique<support::FakeJob>(mine, log_);
    };
    options.open_decoder = [this](const std::string& key) { return std::make_unique<FakeDecoder>(key, token_time_); };
    return options;
  }

  app::MainWindow& open(const app::WindowOptions& options) {
    window_.reset();
    window_ = std::make_unique<app::MainWindow>(theme(), options);
    window_->show();
    EXPECT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
    EXPECT_TRUE(QTest::qWaitFor([this] { return !window_->reading() && !window_->rollouts_page().busy(); }));
    return *window_;
  }
  app::MainWindow& open() { return open(options()); }

  [[nodiscard]] std::filesystem::path folder() const { return dir_.path().toStdString(); }

  QAction* action(const QString& text) {
    for (QAction* candidate : window_->actions_of_window()) {
      if (candidate->text().startsWith(text)) return candidate;
    }
    ADD_FAILURE() << "no action " << text.toStdString();
    return nullptr;
  }
  template <typename Widget>
  Widget* named(const QString& accessible_name) {
    for (Widget* widget : window_->findChildren<Widget*>()) {
      if (widget->accessibleName() == accessible_name) return widget;
    }
    ADD_FAILURE() << "no widget named " << accessible_name.toStdString();
    return nullptr;
  }
  bool reaches(engine::TrainingState state) {
    return QTest::qWaitFor([&] { return window_->controller().now().state == state; }, 5000);
  }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(window_.get(), key, modifiers); }

  /// For people who want to look: written when FULLBAND_PICTURES names a folder.
  void picture(const std::string& name) {
    const QString into = qEnvironmentVariable("FULLBAND_PICTURES");
    if (!into.isEmpty()) window_->grab().save(into + "/" + QString::fromStdString(name) + ".png");
  }

  QTemporaryDir dir_;
  support::FakeOptions job_;
  std::chrono::milliseconds token_time_{0};
  std::shared_ptr<support::FakeLog> log_ = std::make_shared<support::FakeLog>();
  std::unique_ptr<app::MainWindow> window_;
};

}  // namespace app_tests
