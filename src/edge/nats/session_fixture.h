// For tests: a session with a wire that remembers, and commands that stay where they are.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "edge/nats/session.h"

namespace fairlead::edge::nats {

class RecordingWire final : public Wire {
 public:
  void send(std::string_view bytes) override {
    if (!closed) output.append(bytes);
  }
  size_t unsent() const override { return stuck ? output.size() : 0; }
  void close() override { closed = true; }
  void start_tls() override { tls_started = true; }
  void pause() override { paused = true; }
  void resume() override { paused = false; }

  // What was sent since the last call.
  std::string heard() { return std::exchange(output, {}); }

  std::string output;
  bool stuck = false;
  bool closed = false;
  bool tls_started = false;
  bool paused = false;
};

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    settings.info.id = "ID";
    settings.backlog_of_all = std::make_shared<std::atomic<size_t>>(0);
    settings.hand_over = [this](Command command) { commands.push_back(std::move(command)); };
    settings.gone = [this](uint64_t client) { gone.push_back(client); };
  }

  // A session whose INFO was heard.
  void open() {
    session = std::make_unique<Session>(settings, wire, Peer{7, "10.0.0.1", 999});
    session->opened(MonotonicTime{});
    info = wire.heard();
  }
  // As most libraries do.
  void connect(std::string options = R"({"verbose":false,"headers":true,"no_responders":true})") {
    open();
    session->received("CONNECT " + options + "\r\n");
    EXPECT_EQ(wire.heard(), "");
  }
  // What the client hears for what it says.
  std::string say(std::string_view bytes) {
    session->received(bytes);
    return wire.heard();
  }
  // The desk has done all there is.
  void all_done() {
    for (Command& command : std::exchange(commands, {})) {
      session->take({.kind = Reply::Kind::kDone, .client = 7, .cost = command.cost});
      if (command.kind == Command::Kind::kPing) {
        session->take({.kind = Reply::Kind::kPong, .client = 7});
      }
    }
  }

  SessionSettings settings;
  RecordingWire wire;
  std::unique_ptr<Session> session;
  std::string info;
  std::vector<Command> commands;
  std::vector<uint64_t> gone;
};

}  // namespace fairlead::edge::nats
