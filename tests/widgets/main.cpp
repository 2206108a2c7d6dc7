// The widget tests run without a screen unless told otherwise.
#include <gtest/gtest.h>

#include <QApplication>

#include "widgets/style.h"

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  ::testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  widgets::ThemeController themes(application);
  themes.set_choice(widgets::ThemeChoice::light);
  return RUN_ALL_TESTS();
}
