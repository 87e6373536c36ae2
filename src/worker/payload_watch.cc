#include "worker/payload_watch.h"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/limits.h"

namespace fairlead::worker {

asio::awaitable<void> PayloadWatch::wait_until_usable() {
  asio::steady_timer timer(context_);
  Duration pause = limits::kReconnectFirst;
  while (!closed_) {
    auto checked = co_await payloads_.check();
    if (checked) {
      complained_.clear();
      co_return;
    }
    complain(checked.error());
    timer.expires_after(pause);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    pause = std::min(pause * 2, limits::kReconnectMax);
  }
}

void PayloadWatch::failed(const Error& error) {
  complain(error);
  if (!usable_) return;
  usable_ = false;
  changed_();
  asio::co_spawn(context_, ask_again(), asio::detached);
}

asio::awaitable<void> PayloadWatch::ask_again() {
  co_await wait_until_usable();
  usable_ = true;
  if (closed_) co_return;
  say_("the payload listener can be used again");
  changed_();
}

void PayloadWatch::complain(const Error& error) {
  if (complained_ == error.message) return;
  complained_ = error.message;
  say_("cannot use the payload listener: " + error.message + "; trying again until it works");
}

}  // namespace fairlead::worker
