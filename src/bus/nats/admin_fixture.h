// For tests: somebody who asks JetStream directly, as an operator or a Go service would.
#pragma once

#include <string>

#include <boost/json.hpp>

#include "bus/nats/jetstream_api.h"
#include "bus/nats/real_loop_fixture.h"

namespace fairlead::bus::nats {

class Admin {
 public:
  Admin(RealLoop& loop, const std::string& url) : loop_(loop), link_(loop.loop(), to(url), told()) {
    replies_listener_ = link_.listen(replies_.pattern(), "", Link::Care::kKeepAll);
    link_.open();
    EXPECT_TRUE(loop.run_until([this] { return link_.connected(); }));
  }

  boost::json::object ask(std::string_view name, const boost::json::object& question = {}) {
    auto answer = loop_.wait(api_.call(name, question));
    EXPECT_TRUE(answer) << answer.error().describe();
    return answer ? answer->body : boost::json::object();
  }
  // "ack_floor.stream_seq" of a durable, and so on.
  uint64_t consumer_number(std::string_view durable, std::string_view path) {
    return number_at(ask("CONSUMER.INFO.CORDUM_SYS." + std::string(durable)), path);
  }
  Link& link() { return link_; }

 private:
  static Settings to(const std::string& url) {
    Settings settings;
    settings.servers = {url};
    return settings;
  }
  Link::Callbacks told() {
    return {.arrived =
                [this](Arrival arrival) {
                  if (arrival.listener == replies_listener_) replies_.arrived(std::move(arrival));
                },
            .connected = [] {},
            .lost = [this](const std::string&) { replies_.lost(); },
            .complained = [](const std::string&) {}};
  }

  RealLoop& loop_;
  uint64_t replies_listener_ = 0;
  Replies replies_{loop_.loop(), "_INBOX.admin."};
  Link link_;
  JetStreamApi api_{link_, replies_};
};

}  // namespace fairlead::bus::nats
