// A client of the payload listener, or of any Redis: what a job's pointers lead to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "worker/options.h"

namespace fairlead::worker {

namespace asio = boost::asio;

class Link;

// A connection for each call: payloads are few, and a server that came back is found at once.
class PayloadClient {
 public:
  PayloadClient(asio::io_context& context, ServerAddress address)
      : context_(context), address_(std::move(address)) {}

  // Whether the listener is there and lets us in.
  asio::awaitable<Result<void>> check();
  // Nothing when there is no such key. kUnavailable: try again; others will fail again. Errors say
  // nothing about the key, only about the listener.
  asio::awaitable<Result<std::optional<std::string>>> get(std::string key);
  asio::awaitable<Result<void>> set(std::string key, std::string bytes, Duration time_to_live);

 private:
  asio::awaitable<Result<std::optional<std::string>>> call(std::vector<std::string> words);
  asio::awaitable<Result<std::optional<std::string>>> ask(Link& link,
                                                          const std::vector<std::string>& words);
  asio::awaitable<Result<void>> sign_in(Link& link);

  asio::io_context& context_;
  ServerAddress address_;
};

}  // namespace fairlead::worker
