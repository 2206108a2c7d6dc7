#include "app/status_line.h"

#include <gtest/gtest.h>

#include <QLabel>

namespace {

/// The text of the label with this accessible name.
QString text_of(const app::StatusLine& line, const QString& name) {
  for (const QLabel* label : line.findChildren<QLabel*>()) {
    if (label->accessibleName() == name) return label->text();
  }
  return {};
}

TEST(StatusLine, NamesTheDeviceWhatItIsMadeOfAndItsMemory) {
  app::StatusLine line;
  engine::TrainingSnapshot training;
  training.device = {"CPU", 2, 1 << 20, 0, 0};
  line.show_state(training, {});
  EXPECT_EQ(text_of(line, "Device"), QString("CPU · 2 threads"));
  EXPECT_FALSE(text_of(line, "Memory").isEmpty());
  training.device.name = "A GPU that no driver knows";
  training.device.threads = 132;
  line.show_state(training, {});
  EXPECT_EQ(text_of(line, "Device"), QString("A GPU that no driver knows · 132 multiprocessors"));
}

}  // namespace
