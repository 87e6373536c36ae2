// For tests: another's gateway, which has what this server has not. It answers as it was told, call
// by call.
#pragma once

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/edge/loopback.h"

namespace fairlead::http {

struct Asked {
  std::string line;  // "POST /path"
  std::string body;

  bool operator==(const Asked&) const = default;
};

class OtherGateway {
 public:
  using Answers = std::vector<std::pair<std::string, int>>;  // body, status

  explicit OtherGateway(Answers answers)
      : thread_([this, answers = std::move(answers)] {
          for (const auto& [body, status] : answers) serve(body, status);
        }) {}
  explicit OtherGateway(std::string answer, int status = 200)
      : OtherGateway(Answers{{std::move(answer), status}}) {}
  ~OtherGateway() { end(); }

  // What it was asked last, when it has answered all.
  Asked asked() { return every().back(); }
  // What it was asked, call by call.
  const std::vector<Asked>& every() {
    end();
    return asked_;
  }
  std::string head() {
    end();
    return call_.substr(0, call_.find("\r\n\r\n") + 2);
  }

  std::string url() const { return listener_.url(); }

 private:
  void end() {
    if (thread_.joinable()) thread_.join();
  }
  bool whole() const {
    const size_t head = call_.find("\r\n\r\n");
    if (head == call_.npos) return false;
    const size_t length = call_.find("Content-Length: ");
    return length == call_.npos || length > head ||
           call_.size() >= head + 4 + std::stoul(call_.substr(length + 16));
  }
  void serve(const std::string& body, int status) {
    const int client = listener_.accept();
    call_.clear();
    char buffer[4096];
    while (!whole()) {
      const ssize_t count = ::read(client, buffer, sizeof(buffer));
      if (count <= 0) break;
      call_.append(buffer, static_cast<size_t>(count));
    }
    const std::string reply = "HTTP/1.1 " + std::to_string(status) +
                              " So\r\nContent-Length: " + std::to_string(body.size()) +
                              "\r\nConnection: close\r\n\r\n" + body;
    asked_.push_back(
        {call_.substr(0, call_.find(" HTTP/")), call_.substr(call_.find("\r\n\r\n") + 4)});
    EXPECT_EQ(::write(client, reply.data(), reply.size()), static_cast<ssize_t>(reply.size()));
    ::close(client);
  }

  edge::Loopback listener_;
  std::string call_;  // the last
  std::vector<Asked> asked_;
  std::thread thread_;
};

}  // namespace fairlead::http
