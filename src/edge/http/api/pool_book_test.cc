#include "edge/http/api/pool_book.h"

#include "scheduler/replica_fixture.h"

namespace fairlead::http {
namespace {

class PoolBookTest : public scheduler::ReplicaTest {
 protected:
  struct Site {
    Site(PoolBookTest& test)
        : book(test.loop_, test.store_, test.pools(), [this](auto map) { map_ = std::move(map); }) {
      EXPECT_TRUE(test.run(book.start()));
    }
    bool knows(const char* pool) const {
      return std::ranges::any_of(map_->pools(),
                                 [&](const auto& known) { return known.name.str() == pool; });
    }

    std::shared_ptr<const routing::PoolMap> map_;
    PoolBook book;
  };

  static PoolBook::Edit add(const char* pool) {
    return [pool](PoolBook::Topics&, PoolBook::Pools& pools) -> Result<void> {
      pools[pool] = {};
      return {};
    };
  }
};

TEST_F(PoolBookTest, ReplicasDoNotUndoEachOthersChanges) {
  Site one(*this), two(*this);
  ASSERT_TRUE(run(one.book.change(add("of-one"))));
  EXPECT_FALSE(two.knows("of-one")) << "it was told nothing yet";
  ASSERT_TRUE(run(two.book.change(add("of-two"))));
  EXPECT_TRUE(two.knows("of-one"));
  EXPECT_TRUE(two.knows("of-two"));
  Site three(*this);
  EXPECT_TRUE(three.knows("of-one"));
  EXPECT_TRUE(three.knows("of-two"));
}

TEST_F(PoolBookTest, FollowsTheChangesOfOthersWhenItRereads) {
  Site one(*this), two(*this);
  ASSERT_TRUE(run(one.book.change(add("of-one"))));
  ASSERT_TRUE(run(two.book.reread()));
  EXPECT_TRUE(two.knows("of-one"));
  auto map = two.map_;
  ASSERT_TRUE(run(two.book.reread()));
  EXPECT_EQ(two.map_, map) << "nothing new came into force";
}

TEST_F(PoolBookTest, TellsOfEachChangeThatWasMade) {
  Site one(*this);
  int told = 0;
  one.book.on_changed([&told] { ++told; });
  ASSERT_TRUE(run(one.book.change(add("a"))));
  EXPECT_EQ(told, 1);
  auto refuse = [](PoolBook::Topics&, PoolBook::Pools&) -> Result<void> {
    return fail(ErrorCode::kInvalid, "no");
  };
  EXPECT_FALSE(run(one.book.change(refuse)));
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace fairlead::http
