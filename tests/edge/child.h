// A child process with pipes, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fairlead::edge {

class Child {
 public:
  // Standard output and error of the child are one stream.
  Child(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables);
  // Ends it if it has not ended.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The next line that it says, without its end; empty when it has closed its output.
  std::string line();
  void signal(int number);
  // Writes to its input.
  void say(const std::string& text);
  // The end of its input; servers stop at that.
  void close_input();
  // Waits for its end. -1: a signal ended it.
  int wait();
  const std::string& output() const { return output_; }
  pid_t id() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_pipe_ = -1;
  std::string output_;  // all that it said
  size_t read_to_ = 0;  // of output_, by line()
};

}  // namespace fairlead::edge
