// What a machine that stops leaves behind: a test disk keeps only what was synced.
#include <gtest/gtest.h>

#include "store/contract/store_test.h"
#include "store/rocksdb/test_disk.h"
#include "tests/crash/audit.h"
#include "tests/crash/lives.h"

namespace fairlead::crash {
namespace {

class LostSync : public testing::Test {
 protected:
  struct Options {
    bool fsync = true;
    bool tearing = false;
    int crashes = 8;
    uint64_t seed = 1;
  };

  // Lets lives go on for a while, takes the image of a crash and goes on with that; again and
  // again. All faults that the audits found.
  std::vector<std::string> run(const Options& options) {
    SeededRandom random(options.seed);
    Ledger ledger;
    std::string prefix = std::to_string(options.seed) + "-";
    std::string folder = folder_.inside(prefix + "0");
    for (int crash = 1; crash <= options.crashes; ++crash) {
      std::string image = folder_.inside(prefix + std::to_string(crash));
      work_until_crash(options, folder, image, random, ledger);
      folder = image;
      auto faults = audit(options, folder, ledger, crash == options.crashes);
      if (!faults.empty()) return faults;
    }
    return {};
  }

 private:
  // Small memtables and logs, so that flushes and changes of log fall into the load.
  store::RocksOptions settings(const Options& options, const std::string& folder) {
    return {.path = folder,
            .env = disk_->env(),
            .fsync = options.fsync,
            .memtable_bytes = 256 << 10,
            .log_bytes = 512 << 10};
  }

  void work_until_crash(const Options& options, const std::string& folder, const std::string& image,
                        Random& random, Ledger& ledger) {
    store::PumpLoop loop;
    auto store = store::RocksStore::open(settings(options, folder), loop, clock_);
    ASSERT_TRUE(store) << store.error().message;
    uint64_t enough = ledger.changes() + 1 + random.below(4000);
    Lives lives(**store,
                [&](uint64_t number, uint64_t revision) { ledger.acknowledged(number, revision); });
    lives.start(100, ledger.next());
    loop.run_until([&] {
      loop.advance(limits::kCommitPutOffMax);
      return ledger.changes() >= enough;
    });
    disk_->crash_image(folder, image, options.tearing ? &random : nullptr);
  }

  std::vector<std::string> audit(const Options& options, const std::string& folder, Ledger& ledger,
                                 bool everything) {
    store::PumpLoop loop;
    auto store = store::RocksStore::open(settings(options, folder), loop, clock_);
    if (!store) return {store.error().message};
    return ledger.audit(**store, loop, everything);
  }

  std::shared_ptr<store::TestDisk> disk_ = store::TestDisk::make();
  store::TemporaryFolder folder_;
  store::ManualClock clock_;
};

// A sanitizer makes each crash take seconds.
#if __has_feature(address_sanitizer)
constexpr int kCrashes = 3;
constexpr uint64_t kTornTails = 1;
#else
constexpr int kCrashes = 8;
constexpr uint64_t kTornTails = 4;
#endif

TEST_F(LostSync, NothingAcknowledgedIsLostWithWhatWasNotSynced) {
  EXPECT_EQ(run({.crashes = kCrashes}), std::vector<std::string>{});
}

TEST_F(LostSync, ATornTailIsDroppedAndNothingElse) {
  for (uint64_t seed = 1; seed <= kTornTails; ++seed) {
    EXPECT_EQ(run({.tearing = true, .crashes = 4, .seed = seed}), std::vector<std::string>{});
  }
}

TEST_F(LostSync, AStoreThatDoesNotSyncIsCaught) {
  EXPECT_NE(run({.fsync = false}), std::vector<std::string>{});
}

}  // namespace
}  // namespace fairlead::crash
