// A value that lives on the heap: cheap to move, copied as a value. For large members of structs
// that travel far.
#pragma once

#include <memory>
#include <utility>

namespace fairlead {

template <class T>
class Boxed {
 public:
  Boxed() : value_(std::make_shared<T>()) {}
  Boxed(const Boxed& other) : value_(std::make_shared<T>(*other)) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~Boxed() = default;

  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

  // Gives the value away, to be shared and changed no more.
  std::shared_ptr<const T> seal() && { return std::move(value_); }

 private:
  std::shared_ptr<T> value_;  // nobody else has it
};

}  // namespace fairlead
