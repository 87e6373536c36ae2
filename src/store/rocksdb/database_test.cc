// The data folder: what is accepted, what is refused, and that what is refused stays as it was.
#include "store/rocksdb/database.h"

#include <fstream>

#include <gmock/gmock.h>
#include <rocksdb/db.h>

#include "store/contract/store_test.h"
#include "store/rocksdb/keys.h"
#include "store/rocksdb/rocks_store.h"
#include "store/rocksdb/test_disk.h"

namespace fairlead::store {
namespace {

using testing::HasSubstr;

class DataFolder : public testing::Test {
 protected:
  Result<std::unique_ptr<RocksStore>> open() {
    return RocksStore::open({.path = path_, .env = disk_->env()}, loop_, clock_);
  }

  // A folder with a job in it, closed.
  void fill() {
    auto store = open();
    ASSERT_TRUE(store) << store.error().message;
    for (int i = 0; i < 100; ++i) {
      Change change;
      change.next->id = JobId(std::to_string(i));
      change.path = {job::State::kPending};
      change.request = std::string(1000, 'r');
      ASSERT_TRUE(loop_.wait((*store)->apply(std::move(change))));
    }
  }

  void end(RocksStore& store, const std::string& id, const std::string& tenant) {
    Change change;
    change.next->id = JobId(id);
    change.next->tenant = TenantId(tenant);
    change.next->topic = Topic("job.old");
    change.next->assignee = WorkerId("of " + tenant);
    change.next->state = job::State::kFailed;
    change.next->updated_at = clock_.wall();
    change.path = {job::State::kPending, job::State::kFailed};
    auto dropped = store.apply(std::move(change));
  }

  // Writes into the closed database behind our back.
  void write_raw(const std::string& family, const std::string& key, const std::string& value) {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    std::vector<std::string> names;
    ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, path_ + "/db", &names).ok());
    for (const std::string& name : names) families.push_back({name, {}});
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, path_ + "/db", families, &handles, &db).ok());
    for (auto* handle : handles) {
      if (handle->GetName() == family) {
        ASSERT_TRUE(db->Put({}, handle, key, value).ok());
      }
      db->DestroyColumnFamilyHandle(handle);
    }
    delete db;
  }

  // Takes away what the format did not have.
  void make_format(int format) {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    std::vector<std::string> names;
    ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, path_ + "/db", &names).ok());
    for (const std::string& name : names) families.push_back({name, {}});
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, path_ + "/db", families, &handles, &db).ok());
    for (auto* handle : handles) {
      if (handle->GetName() == "default") {
        ASSERT_TRUE(db->Put({}, handle, "format", std::to_string(format)).ok());
        if (format == 1) {
          ASSERT_TRUE(db->Delete({}, handle, "ended").ok());
          ASSERT_TRUE(db->Delete({}, handle, "retired").ok());
        }
      }
      if (handle->GetName() == "ended_by_time") leave_out_states(*db, handle, format);
      if (handle->GetName() == "ended_by_queue") {
        if (format == 1) ASSERT_TRUE(db->DropColumnFamily(handle).ok());
        if (format == 2) leave_out_states(*db, handle, format);
      }
      if (handle->GetName() == "ended_by_worker") {
        ASSERT_TRUE(db->DropColumnFamily(handle).ok());
      }
    }
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
    delete db;
  }

  // The keys of ended jobs as they were before they had states.
  static void leave_out_states(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, int format) {
    std::unique_ptr<rocksdb::Iterator> each(db.NewIterator({}, family));
    for (each->SeekToFirst(); each->Valid(); each->Next()) {
      std::string key = each->key().ToString();
      std::string mark = each->value().ToString();
      if (format == 1) mark.resize(1);
      ASSERT_TRUE(db.Delete({}, family, key).ok());
      auto queue = family->GetName() == "ended_by_queue" ? parse_queue_prefixes(key) : std::nullopt;
      key.erase(queue ? queue->queue.size() : 0, 1);
      ASSERT_TRUE(db.Put({}, family, key, mark).ok());
    }
  }

  // Every file of the folder with its bytes.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      if (entry.is_directory()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().string()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }

  void expect_refused(ErrorCode code, const std::string& why) {
    auto before = contents();
    auto store = open();
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, code) << store.error().message;
    EXPECT_THAT(store.error().message, HasSubstr(path_));
    EXPECT_THAT(store.error().message, HasSubstr(why));
    EXPECT_EQ(store.error().message.find('\n'), std::string::npos);
    EXPECT_TRUE(contents() == before) << "the folder was changed";
  }

  std::string file_with(const std::string& part) const {
    for (const auto& entry : std::filesystem::directory_iterator(path_ + "/db")) {
      if (entry.path().string().find(part) != std::string::npos && entry.file_size() > 0) {
        return entry.path().string();
      }
    }
    return "";
  }
  static void damage(const std::string& file, size_t at, size_t bytes) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<int64_t>(at));
    stream << std::string(bytes, '\x5a');
  }

  std::shared_ptr<TestDisk> disk_ = TestDisk::make();
  TemporaryFolder folder_;
  PumpLoop loop_;
  ManualClock clock_;
  std::string path_ = folder_.inside("deep/data");
};

TEST_F(DataFolder, IsMadeWithItsParents) {
  EXPECT_TRUE(open());
  EXPECT_TRUE(open());
}

TEST_F(DataFolder, IsMadeAnewWhenItsMakingWasCutShort) {
  std::filesystem::create_directories(path_ + "/db.creating");
  std::ofstream(path_ + "/db.creating/MANIFEST-000001") << "half of it";
  EXPECT_TRUE(open());
}

TEST_F(DataFolder, IsRefusedWhileAnotherUsesIt) {
  auto store = open();
  ASSERT_TRUE(store);
  auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("another process uses it"));
  EXPECT_THAT(second.error().message, HasSubstr(path_));
  store->reset();
  EXPECT_TRUE(open());
}

TEST_F(DataFolder, IsRefusedWhileAnotherMakesIt) {
  std::filesystem::create_directories(path_);
  rocksdb::FileLock* lock = nullptr;
  ASSERT_TRUE(disk_->env()->LockFile(path_ + "/LOCK", &lock).ok());
  expect_refused(ErrorCode::kUnavailable, "another process uses it");
  ASSERT_TRUE(disk_->env()->UnlockFile(lock).ok());
  EXPECT_TRUE(open());
}

TEST_F(DataFolder, WithOtherFilesIsRefused) {
  std::filesystem::create_directories(path_);
  std::ofstream(path_ + "/thesis.txt") << "years of work";
  expect_refused(ErrorCode::kInvalid, "thesis.txt");
}

TEST_F(DataFolder, ThatIsADatabaseOfSomethingElseIsRefused) {
  std::filesystem::create_directories(path_);
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, path_, &db).ok());
  delete db;
  expect_refused(ErrorCode::kInvalid, "other files");
}

TEST_F(DataFolder, WithADatabaseOfSomethingElseInOursPlaceIsRefused) {
  std::filesystem::create_directories(path_ + "/db");
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, path_ + "/db", &db).ok());
  ASSERT_TRUE(db->Put({}, "key", "value").ok());
  delete db;
  expect_refused(ErrorCode::kInvalid, "of something else");
}

TEST_F(DataFolder, WithoutOurMagicIsRefused) {
  fill();
  write_raw("default", "magic", "somebody");
  expect_refused(ErrorCode::kInvalid, "no stamp of Fairlead");
}

TEST_F(DataFolder, OfANewerFormatIsRefused) {
  fill();
  write_raw("default", "format", "4");
  expect_refused(ErrorCode::kInvalid, "newer Fairlead (format 4, this one knows 3)");
}

TEST_F(DataFolder, OfAnOlderFormatIsBroughtToThisOne) {
  for (int format : {1, 2}) {
    SCOPED_TRACE(format);
    path_ = folder_.inside("format" + std::to_string(format));
    clock_.advance(std::chrono::seconds(1000));
    {
      auto store = open();
      ASSERT_TRUE(store) << store.error().message;
      end(**store, "retired", "acme");
      clock_.advance(limits::kEndedJobTtl);
      EXPECT_EQ(loop_.wait((*store)->retire(clock_.wall(), 10)), 1u);
      for (int i = 0; i < 2500; ++i) {
        end(**store, std::to_string(i), i % 5 == 0 ? "acme" : "globex");
      }
    }
    make_format(format);
    for (int life = 0; life < 2; ++life) {
      auto store = open();
      ASSERT_TRUE(store) << store.error().message;
      auto found = [&](Only only) {
        Query query{.limit = 1000, .only = std::move(only)};
        return loop_.wait((*store)->scan(query))->records.size();
      };
      EXPECT_EQ(found({.tenant = "acme"}), 500u);
      EXPECT_EQ(found({.worker = "of acme"}), 500u);
      EXPECT_EQ(found({.states = {job::State::kFailed}, .tenant = "acme"}), 500u);
      EXPECT_EQ(found({.states = {job::State::kSucceeded}}), 0u);
      EXPECT_EQ((*store)->jobs_in(job::State::kFailed), 2500u);
    }
  }
}

TEST_F(DataFolder, OfAFormatThatIsNoneIsRefused) {
  fill();
  write_raw("default", "format", "x");
  expect_refused(ErrorCode::kCorrupt, "format");
}

TEST_F(DataFolder, WithADamagedManifestIsRefused) {
  fill();
  damage(file_with("MANIFEST"), 20, 40);
  expect_refused(ErrorCode::kCorrupt, "damaged");
}

TEST_F(DataFolder, WithoutItsCurrentFileIsRefused) {
  fill();
  std::filesystem::remove(path_ + "/db/CURRENT");
  expect_refused(ErrorCode::kCorrupt, "damaged");
}

TEST_F(DataFolder, WithARecordThatMakesNoSenseIsRefused) {
  fill();
  write_raw("live", "7", "nonsense");
  expect_refused(ErrorCode::kCorrupt, "job record");
}

TEST_F(DataFolder, WithADamagedTableOfLiveJobsIsRefused) {
  fill();
  {
    // Opened again, the log is turned into tables.
    auto store = open();
    ASSERT_TRUE(store);
  }
  for (const auto& entry : std::filesystem::directory_iterator(path_ + "/db")) {
    if (entry.path().extension() == ".sst") damage(entry.path().string(), 10, 30);
  }
  expect_refused(ErrorCode::kCorrupt, "checksum mismatch");
}

TEST_F(DataFolder, WithALogDamagedBeforeItsEndIsRefused) {
  fill();
  std::string log = file_with(".log");
  damage(log, std::filesystem::file_size(log) / 2, 20);
  expect_refused(ErrorCode::kCorrupt, "damaged");
}

TEST_F(DataFolder, WithALogThatEndsInRubbishOpensWithoutIt) {
  fill();
  std::string log = file_with(".log");
  damage(log, std::filesystem::file_size(log) - 20, 20);
  auto store = open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->table().size(), 99u);
}

TEST_F(DataFolder, WithALogCutOffOpensWithoutWhatWasCutOff) {
  fill();
  std::string log = file_with(".log");
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 20);
  auto store = open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->table().size(), 99u);
}

}  // namespace
}  // namespace fairlead::store
