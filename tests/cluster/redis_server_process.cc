#include "tests/cluster/redis_server_process.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fairlead::cluster {

namespace {

constexpr auto kStartWait = std::chrono::seconds(20);
constexpr int kPortTries = 10;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "redis-server: %s\n", why.c_str());
  std::abort();
}

RedisAnswer converted(const redisReply& given) {
  using Kind = RedisAnswer::Kind;
  RedisAnswer answer;
  switch (given.type) {
    case REDIS_REPLY_INTEGER:
      return {Kind::kInteger, given.integer, std::to_string(given.integer), {}};
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      return {Kind::kText, 0, std::string(given.str, given.len), {}};
    case REDIS_REPLY_ERROR:
      return {Kind::kError, 0, std::string(given.str, given.len), {}};
    case REDIS_REPLY_ARRAY:
      answer.kind = Kind::kList;
      for (size_t i = 0; i < given.elements; ++i)
        answer.items.push_back(converted(*given.element[i]));
      return answer;
    default:
      return answer;
  }
}

}  // namespace

std::vector<std::string> RedisAnswer::texts() const {
  std::vector<std::string> found;
  for (const RedisAnswer& item : items) found.push_back(item.text);
  return found;
}

uint16_t free_port() {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&place), size) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&place), &size) != 0) {
    give_up("no free port");
  }
  ::close(fd);
  return ntohs(place.sin_port);
}

RedisServerProcess::RedisServerProcess(Words options, std::string file)
    : options_(std::move(options)), file_(std::move(file)) {
  std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-redis-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) give_up("no folder");
  folder_ = pattern;
  if (!file_.empty()) {
    // A server rewrites its file when it fails over.
    const auto own = folder_ / "redis.conf";
    std::filesystem::copy_file(file_, own);
    file_ = own.string();
  }
  // Another process may take the port first.
  for (int i = 0; i < kPortTries; ++i) {
    port_ = free_port();
    start();
    if (answers()) return;
    kill();
  }
  give_up("does not start; its log is in " + (folder_ / "log").string());
}

RedisServerProcess::~RedisServerProcess() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string RedisServerProcess::url() const {
  return "redis://127.0.0.1:" + std::to_string(port_);
}

std::string RedisServerProcess::socket_path() const {
  return (folder_ / "redis.sock").string();
}

RedisServerProcess::Words RedisServerProcess::command() const {
  const std::string port = std::to_string(port_);
  // A Sentinel is told by its file, which it rewrites.
  if (!options_.empty() && options_.front().ends_with(".conf")) {
    return {"redis-server", options_.front(), "--sentinel", "--port", port};
  }
  Words words = {"redis-server"};
  if (!file_.empty()) words.push_back(file_);
  words.insert(words.end(), {"--port", port, "--bind", "127.0.0.1", "--dir", folder_.string(),
                             "--unixsocket", socket_path(), "--enable-debug-command", "yes"});
  if (file_.empty()) words.insert(words.end(), {"--appendonly", "yes", "--save", ""});
  words.insert(words.end(), options_.begin(), options_.end());
  return words;
}

void RedisServerProcess::start() {
  Words words = command();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string log = (folder_ / "log").string();
  pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  int out = ::open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

// Waits until it does; false when it has ended.
bool RedisServerProcess::answers() {
  auto patience = std::chrono::steady_clock::now() + kStartWait;
  while (std::chrono::steady_clock::now() < patience) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return false;
    }
    disconnect();
    connection_ = redisConnect("127.0.0.1", port_);
    if (connection_ && connection_->err == 0) {
      auto* reply = static_cast<redisReply*>(redisCommand(connection_, "PING"));
      // One that asks for a password is there too.
      bool there = reply && (reply->type == REDIS_REPLY_STATUS ||
                             std::string_view(reply->str).starts_with("NOAUTH"));
      if (reply) freeReplyObject(reply);
      if (there) return true;
    }
    ::poll(nullptr, 0, 10);
  }
  return false;
}

void RedisServerProcess::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

void RedisServerProcess::kill() {
  disconnect();
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

void RedisServerProcess::restart() {
  start();
  if (!answers()) give_up("does not start again; its log is in " + (folder_ / "log").string());
}

RedisAnswer RedisServerProcess::ask(const Words& words) {
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  for (int tries = 0; tries < 2; ++tries) {
    if (!connection_) connection_ = redisConnect("127.0.0.1", port_);
    auto* reply = static_cast<redisReply*>(
        redisCommandArgv(connection_, static_cast<int>(words.size()), texts.data(), sizes.data()));
    if (reply) {
      RedisAnswer answer = converted(*reply);
      freeReplyObject(reply);
      return answer;
    }
    disconnect();
  }
  give_up("does not answer " + words.front());
}

void RedisServerProcess::ask_until(const Words& words, std::string_view wanted) {
  auto patience = std::chrono::steady_clock::now() + kStartWait;
  while (text(words).find(wanted) == std::string::npos) {
    if (std::chrono::steady_clock::now() > patience) {
      give_up("never says " + std::string(wanted) + " but " + text(words));
    }
    ::poll(nullptr, 0, 10);
  }
}

void RedisServerProcess::disconnect() {
  if (connection_) redisFree(std::exchange(connection_, nullptr));
}

}  // namespace fairlead::cluster
