// The bytes of answers that are made and not yet sent, of all connections together: a caller may
// read as slowly as it likes, and there are many callers.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "edge/http/api/message.h"

namespace fairlead::http {

// Any thread. Must outlive the answers it counted.
class AnswerBytes {
 public:
  explicit AnswerBytes(size_t most) : most_(most) {}
  AnswerBytes(const AnswerBytes&) = delete;
  AnswerBytes& operator=(const AnswerBytes&) = delete;

  // Counts the body, or what it will be made of, for as long as the reply lives; called again when
  // the one has become the other. When there are too many bytes, the reply becomes one that tells
  // the caller to come back; small ones pass in any case.
  void count(Reply& reply);

  size_t under_way() const { return under_way_; }

 private:
  const size_t most_;
  std::atomic<size_t> under_way_ = 0;
};

}  // namespace fairlead::http
