#include "runtime/asio_loop.h"

#include <mutex>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/clock.h"
#include "runtime/timer_queue.h"

namespace fairlead {

namespace asio = boost::asio;

class AsioLoop::Core {
 public:
  void post(Work work) {
    bool first = false;
    {
      std::lock_guard lock(mutex_);
      first = inbox_.empty();
      inbox_.push_back(std::move(work));
    }
    if (first) asio::post(context_, [this] { drain_inbox(); });
  }

  MonotonicTime now() const { return clock_.monotonic(); }

  TimerId call_at(MonotonicTime at, Work work) {
    TimerId id = timers_.add(at, std::move(work));
    arm();
    return id;
  }

  void cancel(TimerId timer) { timers_.remove(timer); }

  void run() {
    context_.restart();
    context_.run();
  }

  void stop() {
    post([this] { context_.stop(); });
  }

 private:
  void drain_inbox() {
    {
      std::lock_guard lock(mutex_);
      batch_.swap(inbox_);
    }
    for (Work& work : batch_) work();
    batch_.clear();
  }

  // Keeps one Asio timer at the earliest time asked for; a removed timer costs one empty wake-up.
  void arm() {
    std::optional<MonotonicTime> next = timers_.next();
    if (!next || (armed_for_ && *armed_for_ <= *next)) return;
    armed_for_ = next;
    timer_.expires_at(std::chrono::steady_clock::time_point(next->time_since_epoch()));
    timer_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      armed_for_.reset();
      MonotonicTime now = this->now();
      while (Work work = timers_.take_due(now)) work();
      arm();
    });
  }

  SystemClock clock_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
  asio::steady_timer timer_{context_};
  std::optional<MonotonicTime> armed_for_;
  TimerQueue timers_;
  std::mutex mutex_;
  std::vector<Work> inbox_;
  std::vector<Work> batch_;
};

AsioLoop::AsioLoop() : core_(std::make_unique<Core>()) {}
AsioLoop::~AsioLoop() = default;
void AsioLoop::post(Work work) {
  core_->post(std::move(work));
}
MonotonicTime AsioLoop::now() const {
  return core_->now();
}
TimerId AsioLoop::call_at(MonotonicTime at, Work work) {
  return core_->call_at(at, std::move(work));
}
void AsioLoop::cancel(TimerId timer) {
  core_->cancel(timer);
}
void AsioLoop::run() {
  core_->run();
}
void AsioLoop::stop() {
  core_->stop();
}

}  // namespace fairlead
