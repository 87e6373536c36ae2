// A real redis-server for tests: on a free port, in a folder of its own, and gone with its owner.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

struct redisContext;

namespace fairlead::cluster {

// What a server said to one command, as redis-cli would show it.
struct RedisAnswer {
  enum class Kind { kNone, kInteger, kText, kError, kList };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  std::string text;
  std::vector<RedisAnswer> items;

  std::vector<std::string> texts() const;
};

class RedisServerProcess {
 public:
  using Words = std::vector<std::string>;

  // Options are those of the command line, such as {"--appendfsync", "always"}. The append-only
  // file is on, unless a configuration file is given that says what is. Returns when the server
  // answers.
  explicit RedisServerProcess(Words options = {}, std::string file = {});
  ~RedisServerProcess();
  RedisServerProcess(const RedisServerProcess&) = delete;
  RedisServerProcess& operator=(const RedisServerProcess&) = delete;

  uint16_t port() const { return port_; }
  pid_t id() const { return pid_; }
  std::string url() const;
  std::string socket_path() const;
  const std::filesystem::path& folder() const { return folder_; }

  void signal(int number);
  // SIGKILL, and waits for its end.
  void kill();
  // After kill: on the same port, with what is on disk.
  void restart();

  // Asks by a connection of its own. An error reply is an answer; stops the test when there is no
  // server.
  RedisAnswer ask(const Words& words);
  // The same for an integer or a text.
  int64_t number(const Words& words) { return ask(words).integer; }
  std::string text(const Words& words) { return ask(words).text; }
  // Asks again until the answer holds a text.
  void ask_until(const Words& words, std::string_view wanted);

 private:
  void start();
  Words command() const;
  bool answers();
  void disconnect();

  Words options_;
  std::string file_;
  std::filesystem::path folder_;
  uint16_t port_ = 0;
  pid_t pid_ = -1;
  redisContext* connection_ = nullptr;
};

uint16_t free_port();

}  // namespace fairlead::cluster
