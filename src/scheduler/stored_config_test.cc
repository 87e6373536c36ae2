#include "scheduler/stored_config.h"

#include <boost/json.hpp>

#include "base/limits.h"
#include "scheduler/replica_fixture.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

class StoredConfigTest : public ReplicaTest {
 protected:
  void put(const std::string& key, const std::string& text) {
    ASSERT_TRUE(
        *store_.put_blob(key, {text, std::nullopt}, store::BlobCondition::kAlways).await_resume());
  }
  boost::json::value resolved(ConfigScope scope) {
    return boost::json::parse(run(config_.resolve(std::move(scope))).value());
  }

  StoredConfig config_{store_, clock_};
};

TEST_F(StoredConfigTest, NarrowerScopesCountMoreThanWiderOnes) {
  put("cfg:system:default", R"({"scope":"system","data":{"a":1,"deep":{"x":1,"y":1,"z":[1]}}})");
  put("cfg:org:acme", R"({"data":{"b":2,"deep":{"y":2}}})");
  put("cfg:team:blue", R"({"data":{"c":3,"deep":{"z":[3]}}})");
  put("cfg:workflow:flow", R"({"data":{"a":{"now":"an object"}}})");
  put("cfg:step:first", R"({"data":{"b":null}})");
  EXPECT_EQ(resolved({TenantId("acme"), "blue", "flow", "first"}), boost::json::parse(R"(
      {"a":{"now":"an object"},"b":null,"c":3,"deep":{"x":1,"y":2,"z":[3]}})"));
  EXPECT_EQ(resolved({TenantId("other"), "", "", ""}),
            boost::json::parse(R"({"a":1,"deep":{"x":1,"y":1,"z":[1]}})"));
}

TEST_F(StoredConfigTest, IsEmptyWhereNothingIsConfigured) {
  EXPECT_EQ(run(config_.resolve({TenantId("acme"), "", "", ""})).value(), "");
  put("cfg:org:acme", R"({"data":{}})");
  loop_.run_for(limits::kConfigDocumentTtl);
  EXPECT_EQ(run(config_.resolve({TenantId("acme"), "", "", ""})).value(), "");
}

TEST_F(StoredConfigTest, ADocumentThatIsNoJsonIsAnError) {
  put("cfg:team:blue", "{");
  Result<std::string> config = run(config_.resolve({TenantId("acme"), "blue", "", ""}));
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, "cfg:team:blue is no JSON object");
}

TEST_F(StoredConfigTest, AChangeIsSeenWithinASecond) {
  put("cfg:org:acme", R"({"data":{"a":1}})");
  EXPECT_EQ(resolved({TenantId("acme"), "", "", ""}), boost::json::parse(R"({"a":1})"));
  put("cfg:org:acme", R"({"data":{"a":2}})");
  loop_.run_for(1s);
  EXPECT_EQ(resolved({TenantId("acme"), "", "", ""}), boost::json::parse(R"({"a":2})"));
}

TEST_F(StoredConfigTest, ManyTenantsAreAnsweredBeyondWhatIsKept) {
  for (size_t i = 0; i < 2 * limits::kConfigDocumentsKept; ++i) {
    const std::string tenant = "t" + std::to_string(i);
    put("cfg:org:" + tenant, R"({"data":{"is":")" + tenant + "\"}}");
    EXPECT_EQ(resolved({TenantId(tenant), "", "", ""}).at("is"), boost::json::value(tenant));
  }
}

}  // namespace
}  // namespace fairlead::scheduler
