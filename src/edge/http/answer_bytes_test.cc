#include "edge/http/answer_bytes.h"

#include <gtest/gtest.h>

namespace fairlead::http {
namespace {

constexpr size_t kBodyBytes = 1 << 20;

TEST(AnswerBytes, WhatABodyWillBeMadeOfIsCountedUntilTheBodyIs) {
  AnswerBytes bytes(3 * kBodyBytes);
  Reply reply = reply_later(200, 2 * kBodyBytes, [] { return json::value(); });
  bytes.count(reply);
  EXPECT_EQ(bytes.under_way(), 2 * kBodyBytes);

  Reply another = reply_later(200, 2 * kBodyBytes, [] { return json::value(); });
  bytes.count(another);
  EXPECT_EQ(another.status, 503);
  EXPECT_EQ(bytes.under_way(), 2 * kBodyBytes);

  reply.body = std::string(kBodyBytes, 'x');
  reply.render = nullptr;
  bytes.count(reply);
  EXPECT_EQ(bytes.under_way(), kBodyBytes);
  reply = {};
  EXPECT_EQ(bytes.under_way(), 0u);
}

}  // namespace
}  // namespace fairlead::http
