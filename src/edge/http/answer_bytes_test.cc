#include "edge/http/answer_bytes.h"

#include <gtest/gtest.h>

namespace fairlead::http {
namespace {

constexpr size_t kLarge = 1 << 20;

TEST(AnswerBytes, WhatABodyWillBeMadeOfIsCountedUntilTheBodyIs) {
  AnswerBytes bytes(3 * kLarge);
  Reply reply = reply_later(200, 2 * kLarge, [] { return json::value(); });
  bytes.count(reply);
  EXPECT_EQ(bytes.under_way(), 2 * kLarge);

  Reply another = reply_later(200, 2 * kLarge, [] { return json::value(); });
  bytes.count(another);
  EXPECT_EQ(another.status, 503);
  EXPECT_EQ(bytes.under_way(), 2 * kLarge);

  reply.body = std::string(kLarge, 'x');
  reply.render = nullptr;
  bytes.count(reply);
  EXPECT_EQ(bytes.under_way(), kLarge);
  reply = {};
  EXPECT_EQ(bytes.under_way(), 0u);
}

}  // namespace
}  // namespace fairlead::http
