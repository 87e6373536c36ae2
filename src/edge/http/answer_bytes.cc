#include "edge/http/answer_bytes.h"

#include <memory>

#include "edge/http/http_limits.h"

namespace fairlead::http {

void AnswerBytes::count(Reply& reply) {
  reply.counted = nullptr;
  const size_t bytes = reply.body.size() + (reply.render ? reply.render_bytes : 0);
  if (bytes <= limits::kHttpSmallAnswerBytes) return;
  if (under_way_.fetch_add(bytes) + bytes > most_) {
    under_way_ -= bytes;
    reply = std::move(problem(503, "too many answers are under way", "answers_under_way")
                          .with("Retry-After", "1"));
    return;
  }
  reply.counted = std::shared_ptr<void>(nullptr, [this, bytes](void*) { under_way_ -= bytes; });
}

}  // namespace fairlead::http
