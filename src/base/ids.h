// Strong types for the names and numbers of the domain. A JobId cannot be passed where a WorkerId
// is wanted, and an Epoch cannot be compared with a Revision.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead {

// A text that never changes, shared by its copies: a job's id is copied many times on its way.
template <class Tag>
class Name {
 public:
  Name() = default;
  explicit Name(std::string text) {
    if (!text.empty()) text_ = std::make_shared<const std::string>(std::move(text));
  }
  explicit Name(std::string_view text) : Name(std::string(text)) {}
  explicit Name(const char* text) : Name(std::string(text)) {}

  const std::string& str() const { return text_ ? *text_ : kNone; }
  bool empty() const { return !text_; }

  bool operator==(const Name& other) const { return text_ == other.text_ || str() == other.str(); }
  auto operator<=>(const Name& other) const { return str() <=> other.str(); }

 private:
  inline static const std::string kNone;

  std::shared_ptr<const std::string> text_;
};

template <class Tag>
class Number {
 public:
  constexpr Number() = default;
  constexpr explicit Number(uint64_t value) : value_(value) {}

  constexpr uint64_t value() const { return value_; }
  constexpr Number next() const { return Number(value_ + 1); }

  constexpr auto operator<=>(const Number&) const = default;

 private:
  uint64_t value_ = 0;
};

using JobId = Name<struct JobIdTag>;
using WorkerId = Name<struct WorkerIdTag>;
using TenantId = Name<struct TenantIdTag>;
using TraceId = Name<struct TraceIdTag>;
using PoolName = Name<struct PoolNameTag>;
using Topic = Name<struct TopicTag>;

// Grows with every dispatch of a job; 0 means never dispatched.
using Epoch = Number<struct EpochTag>;
// Grows with every commit of a job's record; 0 means no record.
using Revision = Number<struct RevisionTag>;
// Position of a message on its bus; grows with every message stored, also across restarts.
using Sequence = Number<struct SequenceTag>;

}  // namespace fairlead

template <class Tag>
struct std::hash<fairlead::Name<Tag>> {
  size_t operator()(const fairlead::Name<Tag>& name) const {
    return std::hash<std::string>{}(name.str());
  }
};
