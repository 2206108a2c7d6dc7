#include "app/background.h"

#include <QMetaObject>
#include <utility>

namespace app {

Background::Background(QObject* parent) : QObject(parent) {
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

Background::~Background() {
  thread_.request_stop();
  thread_.join();  // before the QObject part goes, to which results are posted
}

void Background::run(Work work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  ++open_;
  changed_.notify_all();
}

bool Background::busy() const {
  const std::lock_guard lock(mutex_);
  return open_ > 0;
}

void Background::serve(const std::stop_token& stop) {
  while (true) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (stop.stop_requested()) return;
    Done done = work();
    const std::lock_guard lock(mutex_);
    finished_.push_back(std::move(done));
    QMetaObject::invokeMethod(this, &Background::deliver, Qt::QueuedConnection);
  }
}

void Background::deliver() {
  Done done;
  {
    const std::lock_guard lock(mutex_);
    if (finished_.empty()) return;
    done = std::move(finished_.front());
    finished_.pop_front();
    --open_;
  }
  if (done) done();
}

}  // namespace app
