// One connection to the API, one request at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tests/load/wire.h"

namespace fairlead::load {

class HttpClient {
 public:
  // 0: the connection is gone, and nobody knows whether the request arrived.
  using Answered = std::function<void(int status, std::string_view body)>;

  explicit HttpClient(asio::io_context& context) : context_(context) {}
  ~HttpClient() { close(); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  bool connect(const Endpoint& place);
  // REQUIRES: the last one is answered.
  void post(std::string_view path, std::string_view body, Answered answered,
            std::string_view more_headers = {});
  void close();

 private:
  size_t take(std::string_view bytes);
  void answer(int status, std::string_view body);

  asio::io_context& context_;
  std::shared_ptr<Wire> wire_;
  Answered answered_;
};

// The answer to one GET, awaited; "" when there is none.
std::string get(const Endpoint& place, std::string_view path);

// The text behind `"name":"` in JSON; "" when it is not there.
std::string_view json_text(std::string_view json, std::string_view name);

}  // namespace fairlead::load
