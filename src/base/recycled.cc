#include "base/recycled.h"

#include <array>
#include <new>
#include <utility>

#include "base/limits.h"

namespace fairlead {

namespace {

constexpr size_t kStep = 64;  // a line of the cache

// What was given back, of one size.
struct Shelf {
  struct Piece {
    Piece* below;
  };
  Piece* top = nullptr;
  size_t count = 0;
};

// Of one thread. What it holds goes with it.
class Shelves {
 public:
  ~Shelves() {
    for (Shelf& shelf : shelves_) {
      while (shelf.top) ::operator delete(pop(shelf));
    }
    gone_ = true;
  }

  void* take(size_t bytes) {
    Shelf* shelf = shelf_of(bytes);
    if (!shelf) return ::operator new(bytes);
    return shelf->top ? pop(*shelf) : ::operator new(size_of(bytes));
  }

  void give_back(void* memory, size_t bytes) noexcept {
    Shelf* shelf = shelf_of(bytes);
    if (!shelf || gone_ || shelf->count * size_of(bytes) >= limits::kRecycledBytesMax) {
      return ::operator delete(memory);
    }
    shelf->top = new (memory) Shelf::Piece{shelf->top};
    ++shelf->count;
  }

 private:
  static size_t size_of(size_t bytes) { return (bytes + kStep - 1) / kStep * kStep; }

  // nullptr: it is too large to be kept.
  Shelf* shelf_of(size_t bytes) {
    const size_t index = (bytes + kStep - 1) / kStep;
    return index < shelves_.size() ? &shelves_[index] : nullptr;
  }

  static void* pop(Shelf& shelf) {
    --shelf.count;
    return std::exchange(shelf.top, shelf.top->below);
  }

  std::array<Shelf, limits::kRecycledPieceMax / kStep + 1> shelves_{};
  bool gone_ = false;  // what the thread ends after this is not kept
};

thread_local Shelves shelves;

}  // namespace

// A sanitizer has to see each piece end.
#if __has_feature(address_sanitizer)

void* Recycled::operator new(size_t bytes) {
  return ::operator new(bytes);
}
void Recycled::operator delete(void* memory, size_t) noexcept {
  ::operator delete(memory);
}

#else

void* Recycled::operator new(size_t bytes) {
  return shelves.take(bytes);
}
void Recycled::operator delete(void* memory, size_t bytes) noexcept {
  shelves.give_back(memory, bytes);
}

#endif

}  // namespace fairlead
