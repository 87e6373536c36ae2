#include "worker/job_run.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

#include <fmt/core.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/text.h"
#include "job/pointer.h"
#include "worker/packets.h"

namespace fairlead::worker {

namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

// Variables that a request may set: a name of its own choosing could change what is run.
bool may_be_set(std::string_view name) {
  return name.starts_with("CORDUM_") && std::ranges::all_of(name, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// The end of a text, from the beginning of a line where that is possible.
std::string tail_of(std::string_view text) {
  text = trim(text);
  if (text.size() > limits::kErrorTailBytes) {
    text.remove_prefix(text.size() - limits::kErrorTailBytes);
    if (size_t line = text.find('\n'); line != text.npos) text.remove_prefix(line + 1);
  }
  return as_utf8(text);
}

}  // namespace

JobRun::JobRun(Plugs plugs, Arrived job)
    : plugs_(std::move(plugs)),
      job_(std::move(job)),
      change_(plugs_.context),
      deadline_(job_.deadline()) {}

std::optional<MonotonicTime> JobRun::Arrived::deadline() const {
  const int64_t budget_ms = request.budget().deadline_ms();
  if (budget_ms <= 0) return std::nullopt;
  return at + std::chrono::milliseconds(std::min<int64_t>(budget_ms, INT32_MAX));
}

std::optional<pid_t> JobRun::process() const {
  if (!child_ || end_) return std::nullopt;
  return child_->id();
}

void JobRun::stop(Stop why) {
  if (stop_ == Stop::kNo) stop_ = why;
  if (why == Stop::kKilled) kill_at_ = plugs_.clock.monotonic();
  change_.cancel();
}

asio::awaitable<RunOutcome> JobRun::run() {
  began_ = plugs_.clock.monotonic();
  if (deadline_ && began_ >= *deadline_) stop(Stop::kDeadline);
  if (stop_ != Stop::kNo) co_return outcome();
  auto payload = co_await fetch_payload();
  if (stop_ != Stop::kNo) co_return outcome();
  if (!payload) {
    plugs_.no_payloads(payload.error());
    co_return failed(cap::JOB_STATUS_FAILED_RETRYABLE, "payloads_unavailable",
                     payload.error().message);
  }
  if (!*payload) {
    co_return failed(cap::JOB_STATUS_FAILED, "payload_missing",
                     fmt::format("{} leads to nothing: it has expired or was never stored",
                                 job_.request.context_ptr()));
  }
  if (auto made = folder_.make(plugs_.folder, job_.request, **payload); !made) {
    co_return failed(cap::JOB_STATUS_FAILED_RETRYABLE, "worker_error", made.error().message);
  }
  payload->reset();
  auto child = ChildProcess::start({plugs_.program, plugs_.options.command, variables(),
                                    folder_.payload_path(), &plugs_.watchdog});
  if (!child) {
    const bool later = child.error().code == ErrorCode::kUnavailable;
    co_return failed(later ? cap::JOB_STATUS_FAILED_RETRYABLE : cap::JOB_STATUS_FAILED,
                     "cannot_run", child.error().message);
  }
  child_.emplace(*std::move(child));
  plugs_.progress({.percent = 0, .message = "started", .step = {}});

  auto pipe = [&](int end) { return asio::posix::stream_descriptor(plugs_.context, end); };
  // They may end later than this run, when something else holds a pipe open.
  auto spawn = [&](auto reading) {
    ++pipes_open_;
    asio::co_spawn(
        plugs_.context,
        [self = shared_from_this(),
         reading = std::move(reading)]() mutable -> asio::awaitable<void> {
          co_await reading(*self);
          --self->pipes_open_;
          self->change_.cancel();
        },
        asio::detached);
  };
  spawn([end = pipe(child_->take_output())](JobRun& self) mutable {
    return self.read_output(std::move(end));
  });
  spawn([end = pipe(child_->take_errors())](JobRun& self) mutable {
    return self.read_errors(std::move(end));
  });
  spawn([end = pipe(child_->take_progress())](JobRun& self) mutable {
    return self.read_progress(std::move(end));
  });
  co_await watch();
  co_return outcome();
}

// What the context pointer leads to. A listener that is not there may only be restarting, and is
// waited for a while.
asio::awaitable<Result<std::optional<std::string>>> JobRun::fetch_payload() {
  if (job_.request.context_ptr().empty()) co_return std::string();
  const std::string key(job::key_of_pointer(job_.request.context_ptr()));
  Duration pause = limits::kReconnectFirst;
  for (;;) {
    auto found = co_await plugs_.payloads.get(key);
    const MonotonicTime now = plugs_.clock.monotonic();
    if (found || found.error().code != ErrorCode::kUnavailable ||
        now - began_ >= limits::kPayloadPatience) {
      co_return found;
    }
    plugs_.no_payloads(found.error());
    if (deadline_ && now >= *deadline_) stop_ = Stop::kDeadline;
    if (stop_ != Stop::kNo) co_return found;
    co_await wait_until(std::min(now + pause, deadline_.value_or(MonotonicTime::max())));
    pause = std::min(pause * 2, limits::kReconnectMax);
  }
}

asio::awaitable<void> JobRun::wait_until(std::optional<MonotonicTime> at) {
  if (at) {
    change_.expires_after(std::max(*at - plugs_.clock.monotonic(), Duration::zero()));
  } else {
    change_.expires_after(std::chrono::hours(24));
  }
  co_await change_.async_wait(kToken);
}

// Until the program has ended and all that it said is read.
asio::awaitable<void> JobRun::watch() {
  std::optional<MonotonicTime> pipes_until;
  for (;;) {
    const MonotonicTime now = plugs_.clock.monotonic();
    if (!end_) {
      end_ = child_->poll();
      if (end_) pipes_until = now + limits::kPipeLinger;
    }
    if (end_ && (pipes_open_ == 0 || now >= *pipes_until)) break;
    if (!end_ && deadline_ && now >= *deadline_ && stop_ == Stop::kNo) stop_ = Stop::kDeadline;
    if (!end_) press_to_stop();
    tell_progress(false);

    std::optional<MonotonicTime> next = pipes_until;
    auto consider = [&](std::optional<MonotonicTime> time) {
      if (time && (!next || *time < *next)) next = time;
    };
    if (stop_ == Stop::kNo) consider(deadline_);
    if (!end_) consider(kill_at_);
    if (progress_) consider(progress_due_);
    co_await wait_until(next);
  }
  pipes_left_ = true;
  tell_progress(true);
}

void JobRun::press_to_stop() {
  if (stop_ == Stop::kNo) return;
  const MonotonicTime now = plugs_.clock.monotonic();
  if (!std::exchange(told_to_stop_, true)) {
    child_->signal(SIGTERM);
    if (!kill_at_) kill_at_ = now + plugs_.options.grace;
  }
  if (kill_at_ && now >= *kill_at_) {
    child_->signal(SIGKILL);
    kill_at_.reset();
  }
}

// --- What it says --------------------------------------------------------------------------------

template <class Take>
asio::awaitable<void> JobRun::read_all(asio::posix::stream_descriptor& pipe, Take take) {
  std::string buffer(limits::kReadBytes, '\0');
  while (!pipes_left_) {
    auto [error, count] = co_await pipe.async_read_some(asio::buffer(buffer), kToken);
    if (error) co_return;
    if (!pipes_left_) take(std::string_view(buffer).substr(0, count));
  }
}

asio::awaitable<void> JobRun::read_output(asio::posix::stream_descriptor pipe) {
  co_await read_all(pipe, [this](std::string_view bytes) {
    const size_t room = plugs_.options.output_bytes_max - output_.size();
    output_ += bytes.substr(0, room);
    if (bytes.size() > room) stop(Stop::kOutputTooLarge);  // the rest is read and dropped
  });
}

asio::awaitable<void> JobRun::read_errors(asio::posix::stream_descriptor pipe) {
  co_await read_all(pipe, [this](std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stderr);
    error_tail_ += bytes;
    if (error_tail_.size() > 4 * limits::kErrorTailBytes) {
      error_tail_.erase(0, error_tail_.size() - 2 * limits::kErrorTailBytes);
    }
  });
}

asio::awaitable<void> JobRun::read_progress(asio::posix::stream_descriptor pipe) {
  co_await read_all(pipe, [this](std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      progress_line_ += part.substr(0, limits::kProgressLineBytesMax - progress_line_.size());
      if (end == bytes.npos) break;
      take_progress(std::exchange(progress_line_, {}));
      bytes.remove_prefix(end + 1);
    }
  });
  take_progress(progress_line_);
}

void JobRun::take_progress(std::string_view line) {
  if (auto progress = parse_progress(line)) progress_ = *std::move(progress);
  change_.cancel();
}

// The newest line; those that came too fast before it are not told.
void JobRun::tell_progress(bool in_any_case) {
  const MonotonicTime now = plugs_.clock.monotonic();
  if (!progress_ || (!in_any_case && now < progress_due_)) return;
  plugs_.progress(*std::exchange(progress_, std::nullopt));
  progress_due_ = now + limits::kProgressEvery;
}

// --- What it is given and what became of it ------------------------------------------------------

JobFolder::Variables JobRun::variables() const {
  JobFolder::Variables all = folder_.variables();
  all.emplace_back("FAIRLEAD_JOB_ID", job_.request.job_id());
  all.emplace_back("FAIRLEAD_TOPIC", job_.request.topic());
  all.emplace_back("FAIRLEAD_TENANT", job_.request.tenant_id());
  all.emplace_back("FAIRLEAD_TRACE_ID", job_.trace);
  all.emplace_back("FAIRLEAD_EPOCH", std::to_string(job_.request.dispatch().attempt()));
  all.emplace_back("FAIRLEAD_WORKER_ID", plugs_.options.id);
  all.emplace_back("FAIRLEAD_POOL", plugs_.options.pool);
  all.emplace_back("FAIRLEAD_PROGRESS_FD", "3");
  if (deadline_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::max(Duration(0), *deadline_ - plugs_.clock.monotonic()));
    all.emplace_back("FAIRLEAD_DEADLINE_MS", std::to_string(left.count()));
  }
  for (const auto& [name, value] : job_.request.env()) {
    if (may_be_set(name) && value.find('\0') == value.npos) all.emplace_back(name, value);
  }
  return all;
}

RunOutcome JobRun::failed(cap::JobStatus status, const char* code, std::string message) const {
  return {status, {}, code, std::move(message), plugs_.clock.monotonic() - began_};
}

RunOutcome JobRun::outcome() {
  RunOutcome out;
  out.took = plugs_.clock.monotonic() - began_;
  out.output = std::move(output_);
  const std::string tail = tail_of(error_tail_);
  auto set = [&](cap::JobStatus status, std::string code, std::string message) {
    out.status = status;
    out.error_code = std::move(code);
    out.error_message = std::move(message);
  };
  switch (stop_) {
    case Stop::kCancelled:
      set(cap::JOB_STATUS_CANCELLED, "cancelled", "the job was cancelled");
      return out;
    case Stop::kDeadline:
      set(cap::JOB_STATUS_TIMEOUT, "timeout",
          fmt::format("the job ran past its deadline of {} ms",
                      job_.request.budget().deadline_ms()));
      return out;
    case Stop::kOutputTooLarge:
      out.output.clear();
      set(cap::JOB_STATUS_FAILED, "output_too_large",
          fmt::format("the program wrote more than {} bytes to its standard output",
                      plugs_.options.output_bytes_max));
      return out;
    case Stop::kKilled:
      set(cap::JOB_STATUS_FAILED_RETRYABLE, "worker_stopped", "the worker was told to end at once");
      return out;
    case Stop::kNo:
      break;
  }
  if (end_->signal != 0) {
    set(cap::JOB_STATUS_FAILED, "killed_by_signal",
        fmt::format("the program was ended by signal {}{}{}", end_->signal,
                    tail.empty() ? "" : ": ", tail));
    return out;
  }
  out.status = status_of_exit(end_->exit_code);
  if (out.status != cap::JOB_STATUS_SUCCEEDED) {
    out.error_code = fmt::format("exit_{}", end_->exit_code);
    out.error_message =
        tail.empty() ? fmt::format("the program exited with {}", end_->exit_code) : tail;
  }
  return out;
}

}  // namespace fairlead::worker
