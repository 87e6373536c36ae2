// One process of a campaign: it can be killed, stopped and started again, always in its own place.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/chaos/network.h"

namespace fairlead::chaos {

class Node {
 public:
  // What it says goes to the end of the file `log`. It is not started yet.
  Node(Network& network, std::string name, std::vector<std::string> words, std::string log);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void start();
  void signal(int number);
  // Whether it has not ended; one that has is forgotten.
  bool runs();
  // SIGKILL, and waits for its end.
  void kill();

  const std::string& name() const { return name_; }
  const std::string& log() const { return log_; }

 private:
  Network& network_;
  std::string name_;
  std::vector<std::string> words_;
  std::string log_;
  pid_t pid_ = -1;
};

}  // namespace fairlead::chaos
