// A window whose page under test measures models in the background.
#pragma once

#include "tests/app/sample_model.h"
#include "tests/app/window_fixture.h"
#include "widgets/banner.h"

namespace app_tests {

template <typename Page>
class AnalysisPageTest : public WindowTest {
 protected:
  Page& page() { return *window_->findChild<Page*>(); }
  bool rests() {
    return QTest::qWaitFor([&] { return !page().busy(); }, 60'000);
  }
  [[nodiscard]] QString message() { return page().template findChild<widgets::Banner*>()->message(); }
  /// A run whose model is noise.
  void open_noise() {
    write_run(folder() / "runs" / "noise", 20);
    auto chosen = options();
    chosen.run = (folder() / "runs" / "noise").string();
    chosen.open_analysis = sample_model;
    open(chosen);
  }
};

}  // namespace app_tests
