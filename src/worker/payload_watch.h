// Whether the payload listener can be used. A worker that cannot fetch payloads takes no jobs: it
// would give back one after the other.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "worker/payload_client.h"

namespace fairlead::worker {

class PayloadWatch {
 public:
  using Say = std::function<void(const std::string&)>;

  // `changed` is told when the listener can be used no more, or again. All must outlive the watch.
  PayloadWatch(asio::io_context& context, PayloadClient& payloads, Say say,
               std::function<void()> changed)
      : context_(context),
        payloads_(payloads),
        say_(std::move(say)),
        changed_(std::move(changed)) {}

  bool usable() const { return usable_; }

  // Asks until it can be used, and says why not. Ends early when it is closed.
  asio::awaitable<void> wait_until_usable();
  // It could not be used just now: it is asked until it can.
  void failed(const Error& error);
  void close() { closed_ = true; }

 private:
  void complain(const Error& error);
  asio::awaitable<void> ask_again();

  asio::io_context& context_;
  PayloadClient& payloads_;
  Say say_;
  std::function<void()> changed_;
  bool usable_ = true;
  bool closed_ = false;
  std::string complained_;  // of this, and is not said again
};

}  // namespace fairlead::worker
