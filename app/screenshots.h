// Every page as a picture, with real content: the run's own metrics, and a rollout of its model.
#pragma once

#include <QString>

namespace app {

class MainWindow;

/// Writes training.png and rollouts.png into `folder` (made if missing); FileError when that fails. Waits for the run
/// to be read and for the rollout to end, a minute at most.
void take_screenshots(MainWindow& window, const QString& folder);

}  // namespace app
