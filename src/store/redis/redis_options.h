// What a store in Redis is told. The Go services' variables are named beside each.
#pragma once

#include <string>

#include "base/limits.h"
#include "base/time.h"
#include "store/redis/client/tls_options.h"

namespace fairlead::store::redis {

struct RedisOptions {
  std::string url = "redis://localhost:6379";  // REDIS_URL; client/address.h says its forms
  TlsOptions tls;                              // REDIS_TLS_…, read for rediss:// only
  Duration connect_patience = limits::kRedisConnectWait;  // of open()
  Duration connect_wait = limits::kRedisConnectWait;      // REDIS_DIAL_TIMEOUT, of one try
  Duration answer_wait = limits::kRedisAnswerWait;        // REDIS_READ_TIMEOUT

  // How long things are kept beyond their last use.
  Duration ended_job_ttl = limits::kEndedJobTtl;       // JOB_META_TTL
  Duration idempotency_ttl = limits::kIdempotencyTtl;  // CORDUM_IDEMPOTENCY_TTL
  Duration dead_letter_ttl = limits::kDlqEntryTtl;     // CORDUM_DLQ_ENTRY_TTL_DAYS
  size_t dead_letters_max = limits::kDlqEntriesMax;    // SCHEDULER_DLQ_MAX_SIZE
  // How long a message of the bus is known to be processed.
  Duration processed_ttl = limits::kProcessedTtl;

  // A live job that a Go service moved and that then stays as it is is looked at after this: their
  // dispatch timeout, and for one that runs the longest of their running timeouts.
  Duration adopted_wait = limits::kRedisAdoptedWait;
  Duration adopted_running_wait = limits::kRedisAdoptedRunningWait;
};

}  // namespace fairlead::store::redis
