// Cuts what a client sends into commands, however the bytes are cut on their way: arrays of bulk
// strings, or words on a line. It holds at most one command.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::edge::resp {

using Arguments = std::vector<std::string>;

class Parser {
 public:
  enum class Outcome {
    kMore,     // all bytes are used and no command is complete
    kCommand,  // take() has one, of at least one word; there may be bytes left
    kBroken,   // error() says why; the connection cannot go on
  };

  // Uses bytes from the front of `bytes`.
  Outcome parse(std::string_view& bytes);
  Arguments take() { return std::move(arguments_); }
  // As Redis says it to clients; empty: nothing is to be said.
  const std::string& error() const { return error_; }

  // Until then only short commands are accepted: strangers cannot make us hold payloads.
  void admit() { admitted_ = true; }
  bool admitted() const { return admitted_; }

  // Bytes held of a command that is not complete.
  size_t held() const { return held_ + line_.size(); }

 private:
  Outcome parse_line(std::string_view line);
  Outcome parse_inline(std::string_view line);
  Outcome parse_bulk(std::string_view& bytes);
  Outcome broken(std::string why);

  std::string line_;  // the beginning of one
  Arguments arguments_;
  size_t held_ = 0;     // in arguments_
  size_t missing_ = 0;  // arguments of the array that are still to come
  bool in_bulk_ = false;
  size_t bulk_bytes_ = 0;  // of the argument at hand, without its line's end
  bool admitted_ = false;
  bool is_broken_ = false;
  std::string error_;
};

}  // namespace fairlead::edge::resp
