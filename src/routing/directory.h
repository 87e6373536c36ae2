// Objects found by the id they carry. They stay where they are until they are erased, and lie side
// by side: a lookup touches little memory but the object itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "base/huge_pages.h"

namespace fairlead::routing {

// T is default-made but for its id; `key()` refers to that, and only the directory sets it.
template <class T>
class Directory {
 public:
  using Id = std::remove_reference_t<decltype(std::declval<T&>().key())>;

  // nullptr when there is none.
  T* find(const Id& id) const { return find(Key(id)); }

  // The object of that id, and whether it was made for this.
  std::pair<T*, bool> find_or_make(const Id& id) {
    Key key(id);
    if (T* known = find(key)) return {known, false};
    if (spare_.empty()) grow();
    T* made = spare_.back();
    spare_.pop_back();
    made->key() = id;
    by_id_.insert({made, key.hash});
    return {made, true};
  }

  // Calls last(object) and erases the object; nothing when there is none of that id.
  template <class Last>
  void erase(const Id& id, Last last) {
    auto found = by_id_.find(Key(id));
    if (found == by_id_.end()) return;
    T& object = *found->object;
    last(object);
    by_id_.erase(found);
    // The memory of its id stays with it: the next one's is often as long.
    Id used = std::move(object.key());
    object = T{};
    object.key() = std::move(used);
    spare_.push_back(&object);
  }

 private:
  static constexpr size_t kBlockMin = 256;

  struct Key {
    explicit Key(const Id& wanted) : id(wanted), hash(boost::hash<std::string>{}(wanted.str())) {}
    const Id& id;
    size_t hash;
  };
  struct Entry {
    T* object;
    size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    using is_avalanching = void;
    size_t operator()(const auto& key) const { return key.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const { return a.object == b.object; }
    bool operator()(const Entry& a, const Key& b) const {
      return a.hash == b.hash && a.object->key() == b.id;
    }
    bool operator()(const Key& a, const Entry& b) const { return (*this)(b, a); }
  };

  T* find(const Key& key) const {
    auto found = by_id_.find(key);
    return found == by_id_.end() ? nullptr : found->object;
  }

  // By as much as there is, so that there are few blocks, up to a page.
  void grow() {
    const size_t size =
        std::clamp(size_, kBlockMin, std::max(kBlockMin, kHugePageBytes / sizeof(T)));
    Block& block = blocks_.emplace_back(size);
    for (size_t i = size; i-- > 0;) spare_.push_back(&block[i]);
    size_ += size;
  }

  using Block = std::vector<T, HugePages<T>>;
  std::vector<Block> blocks_;
  size_t size_ = 0;  // of all blocks
  std::vector<T*> spare_;
  // Never iterated.
  boost::unordered_flat_set<Entry, Hash, Equal, HugePages<Entry>> by_id_;
};

}  // namespace fairlead::routing
