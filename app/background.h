// Long reads off the window's thread: one thread, jobs in order, results handed back on the owner's thread.
#pragma once

#include <QObject>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace app {

/// Lives on the window's thread. Destroying it waits for the job under way and drops the others.
class Background : public QObject {
  Q_OBJECT

 public:
  explicit Background(QObject* parent = nullptr);
  ~Background() override;

  /// `work` runs on the thread and gives what to do with its result on the owner's thread.
  using Done = std::function<void()>;
  using Work = std::function<Done()>;
  void run(Work work);
  [[nodiscard]] bool busy() const;

 private:
  void serve(const std::stop_token& stop);
  void deliver();

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Work> waiting_;
  std::deque<Done> finished_;
  int open_ = 0;
  std::jthread thread_;
};

}  // namespace app
