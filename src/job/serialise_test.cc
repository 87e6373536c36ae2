#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "job/request.h"

namespace fairlead::job {
namespace {

TEST(Serialise, GivesTheSameBytesWhateverTheOrderOfInsertion) {
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back("key-" + std::to_string(i));
  cap::JobRequest forward;
  for (const std::string& key : keys) (*forward.mutable_labels())[key] = key;
  std::ranges::reverse(keys);
  cap::JobRequest backward;
  for (const std::string& key : keys) (*backward.mutable_labels())[key] = key;
  EXPECT_EQ(serialise(forward), serialise(backward));
}

TEST(Serialise, KeepsFieldsThatAreNewerThanWeAre) {
  const std::string newer = "\x0a\x01j\xc2\x3e\x03new";  // job_id, then field 1000
  cap::JobRequest request;
  ASSERT_TRUE(request.ParseFromString(newer));
  EXPECT_EQ(serialise(request), newer);
}

TEST(Serialise, TakesAnEmptyMessage) {
  EXPECT_EQ(serialise(cap::JobRequest()), "");
}

}  // namespace
}  // namespace fairlead::job
