// Dead letters: list, page, one, delete, retry, and both by filter.
#include <fmt/core.h>

#include "edge/http/api/dead_letter_json.h"
#include "edge/http/api/job_filter.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

// --- Lists ---------------------------------------------------------------------------------------

struct Listing {
  DeadLetterFilter filter;
  std::string cursor;
  size_t limit = 0;
  bool paged = false;
  bool bare = false;
};

Task<Reply> list(Backend& backend, Listing listing) {
  auto page = co_await find_dead_letters(backend, listing.filter, listing.cursor, listing.limit);
  if (!page) co_return problem_of(page.error());
  size_t bytes = 0;
  for (const store::DeadLetter& entry : page->entries) {
    bytes += sizeof(entry) + entry.reason.size();
  }
  co_return reply_later(200, bytes, [page = *std::move(page), listing] {
    json::array items;
    for (const store::DeadLetter& entry : page.entries) items.push_back(dead_letter_json(entry));
    if (listing.bare) return json::value(std::move(items));
    json::object body;
    body["items"] = std::move(items);
    if (listing.paged) {
      body["next_cursor"] = page.next.empty() ? json::value(nullptr) : json::value(page.next);
    }
    return json::value(std::move(body));
  });
}

template <bool kPaged>
std::expected<Call, Reply> read_list(Request& request, ReadTools&) {
  Listing listing;
  listing.paged = kPaged;
  listing.bare = !kPaged && request.openapi_profile();
  auto cursor = read_cursor(request);
  if (!cursor) return std::unexpected(std::move(cursor.error()));
  listing.cursor = *std::move(cursor);
  auto limit = page_limit(request, 100);
  if (!limit) return std::unexpected(std::move(limit.error()));
  listing.limit = *limit;
  listing.filter.topic = request.parameter("topic");
  listing.filter.reason_code = request.parameter("reason_code");
  if (!request.caller.all_tenants) listing.filter.tenant = request.caller.tenant;
  for (const char* name : {"created_after", "created_before"}) {
    std::string_view text = request.parameter(name);
    if (text.empty()) continue;
    bool after = std::string_view(name) == "created_after";
    auto time = parse_time(text, after ? Bound::kLower : Bound::kUpper);
    if (!time) {
      return std::unexpected(problem(
          400,
          fmt::format("{} is \"{}\", must be a time: a number since 1970 or 2026-01-02T03:04:05Z",
                      name, text.substr(0, 64)),
          "invalid_request"));
    }
    (after ? listing.filter.created_after : listing.filter.created_before) = time;
  }
  return [listing = std::move(listing)](Backend& backend) mutable {
    return list(backend, std::move(listing));
  };
}

// --- One entry -----------------------------------------------------------------------------------

enum class Act { kShow, kErase, kRetry };

Task<Reply> act_on_one(Backend& backend, Caller caller, JobId job, Act act) {
  auto entry = co_await backend.store.dead_letter(job);
  if (!entry) co_return problem_of(entry.error());
  if (!*entry) co_return problem(404, "dlq entry not found");
  if (!caller.sees((*entry)->tenant)) co_return problem(403, "tenant access denied");
  switch (act) {
    case Act::kShow:
      co_return reply_json(200, dead_letter_json(**entry));
    case Act::kErase: {
      auto erased = co_await backend.store.erase_dead_letter(job);
      if (!erased) co_return problem_of(erased.error());
      co_return reply_empty(204);
    }
    case Act::kRetry:
      break;
  }
  auto retried = co_await retry_dead_letter(backend, **std::move(entry));
  if (!retried) co_return std::move(retried.error());
  co_return reply_json(200, {{"job_id", *retried}});
}

template <Act kAct>
std::expected<Call, Reply> read_one(Request& request, ReadTools&) {
  return [caller = request.caller, job = JobId(request.parameters[0])](Backend& backend) {
    return act_on_one(backend, caller, job, kAct);
  };
}

// --- Many ----------------------------------------------------------------------------------------

struct Bulk {
  Act act = Act::kRetry;
  DeadLetterFilter filter;
  bool dry_run = false;
  size_t max = 0;
  Duration stagger{};
};

Task<Reply> act_on_many(Backend& backend, Bulk bulk) {
  auto page = co_await find_dead_letters(backend, bulk.filter, {}, bulk.max);
  if (!page) co_return problem_of(page.error());
  json::array matched, done, failed;
  bool first = true;
  bool stopped = false;
  for (store::DeadLetter& entry : page->entries) {
    std::string job = entry.job.str();
    matched.emplace_back(job);
    if (bulk.dry_run) continue;
    if (!first && bulk.stagger > Duration(0)) {
      if (!co_await backend.loop.delay(bulk.stagger)) break;
    }
    first = false;
    if (bulk.act == Act::kErase) {
      auto erased = co_await backend.store.erase_dead_letter(entry.job);
      if (erased) {
        done.push_back(json::object{{"job_id", job}});
      } else {
        failed.push_back(json::object{{"job_id", job}, {"error", "the store did not answer"}});
      }
      continue;
    }
    auto retried = co_await retry_dead_letter(backend, std::move(entry));
    if (retried) {
      done.push_back(json::object{{"job_id", job}, {"new_job_id", *retried}});
    } else {
      failed.push_back(json::object{{"job_id", job}, {"error", retried.error().body}});
      // The next would fare no better.
      stopped = retried.error().status == 503 || retried.error().status == 429;
    }
    if (stopped) break;
  }
  co_return reply_json(200, {{"dry_run", bulk.dry_run},
                             {"matched", matched.size()},
                             {"job_ids", std::move(matched)},
                             {"done", std::move(done)},
                             {"failed", std::move(failed)},
                             {"more", stopped || !page->next.empty()}});
}

template <Act kAct>
std::expected<Call, Reply> read_bulk(Request& request, ReadTools&) {
  auto body = parse_body(request.body);
  if (!body) return std::unexpected(problem(400, body.error().message, "invalid_json"));
  Fields fields(*body, Fields::Unknown::kRefused);
  const json::value* given = fields.any("filter");
  json::value none = json::object{};
  Fields filter(given ? *given : none, Fields::Unknown::kRefused, "filter");
  Bulk bulk;
  bulk.act = kAct;
  bulk.filter.topic = filter.text("topic", limits::kTopicBytesMax);
  bulk.filter.reason_code = filter.text("reason_code");
  bulk.filter.created_after = filter.time("created_after", false);
  bulk.filter.created_before = filter.time("created_before", true);
  for (std::string& job : filter.texts("job_ids", limits::kBulkMax, limits::kJobIdBytesMax)) {
    bulk.filter.jobs.insert(std::move(job));
  }
  if (!request.caller.all_tenants) bulk.filter.tenant = request.caller.tenant;
  bulk.dry_run = fields.flag("dry_run");
  bulk.max = static_cast<size_t>(fields.number("max", 1, limits::kBulkMax).value_or(100));
  bulk.stagger = std::chrono::milliseconds(fields.number("stagger_ms", 0, 10'000).value_or(0));
  if (bulk.stagger * static_cast<int64_t>(bulk.max) > limits::kBulkStaggerTotalMax) {
    fields.refuse(fmt::format("max {} times stagger_ms {} is longer than {} s: ask for fewer",
                              bulk.max, bulk.stagger / std::chrono::milliseconds(1),
                              limits::kBulkStaggerTotalMax / std::chrono::seconds(1)));
  }
  if (auto wrong = filter.problem()) return std::unexpected(*std::move(wrong));
  if (auto wrong = fields.problem()) return std::unexpected(*std::move(wrong));
  if (!given) {
    return std::unexpected(
        problem(400, "filter is missing: say which entries, or {} for all", "invalid_request"));
  }
  return [bulk = std::move(bulk)](Backend& backend) mutable {
    return act_on_many(backend, std::move(bulk));
  };
}

Route route(Method method, const char* pattern, Access access, Reader read, Described described) {
  return {method, pattern, access, read, std::move(described)};
}

}  // namespace

void add_dead_letter_routes(Routes& routes) {
  std::vector<const char*> filters = {"limit", "topic", "reason_code", "created_after",
                                      "created_before"};
  std::vector<const char*> paged = filters;
  paged.push_back("cursor");
  routes.push_back(route(Method::kGet, "/api/v1/dlq", Access::kAdmin, read_list<false>,
                         {.operation = "listDlq",
                          .summary = "The latest dead letters",
                          .query = filters,
                          .answer = "DeadLetterListOrArray",
                          .problems = {400, 503}}));
  routes.push_back(route(Method::kGet, "/api/v1/dlq/page", Access::kAdmin, read_list<true>,
                         {.operation = "listDlqPage",
                          .summary = "Dead letters, page by page",
                          .query = paged,
                          .answer = "DeadLetterPage",
                          .problems = {400, 503}}));
  routes.push_back(route(Method::kGet, "/api/v1/dlq/{job_id}", Access::kAdmin, read_one<Act::kShow>,
                         {.operation = "getDlqEntry",
                          .summary = "One dead letter",
                          .answer = "DeadLetter",
                          .problems = {403, 404, 503}}));
  routes.push_back(route(Method::kDelete, "/api/v1/dlq/{job_id}", Access::kAdmin,
                         read_one<Act::kErase>,
                         {.operation = "deleteDlqEntry",
                          .summary = "Drop a dead letter",
                          .status = 204,
                          .problems = {403, 404, 503}}));
  routes.push_back(route(Method::kPost, "/api/v1/dlq/{job_id}/retry", Access::kAdmin,
                         read_one<Act::kRetry>,
                         {.operation = "retryDlqEntry",
                          .summary = "Submit the job of a dead letter again",
                          .answer = "JobRef",
                          .problems = {400, 403, 404, 409, 429, 503}}));
  routes.push_back(route(Method::kPost, "/api/v1/dlq/retry", Access::kAdmin, read_bulk<Act::kRetry>,
                         {.operation = "retryDlq",
                          .summary = "Submit again what a filter takes; a dry run only names it",
                          .body = "DlqBulkRequest",
                          .answer = "DlqBulkResponse",
                          .problems = {400, 403, 503}}));
  routes.push_back(route(Method::kPost, "/api/v1/dlq/delete", Access::kAdmin,
                         read_bulk<Act::kErase>,
                         {.operation = "deleteDlq",
                          .summary = "Drop what a filter takes; a dry run only names it",
                          .body = "DlqBulkRequest",
                          .answer = "DlqBulkResponse",
                          .problems = {400, 403, 503}}));
}

}  // namespace fairlead::http
