# Every way in which a job can be refused, with its reason code.
given topic job.default -> pool default
given pool default requires cpu
given pool gpu-batch requires gpu,cuda

story: CON-6 A topic without a pool fails at once though its tenant is full
  policy limits topic job.default max_concurrent_jobs 1
  policy limits topic job.nowhere max_concurrent_jobs 1
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme
  submit job j2 topic job.default tenant acme
  expect job j2 PENDING waiting for tenant_limit
  submit job j3 topic job.nowhere tenant acme
  expect job j3 FAILED code no_pool_mapping

story: A topic without a pool fails at once with no_pool_mapping
  worker w1 joins pool default capacity 4
  submit job j1 topic job.nowhere
  expect job j1 FAILED code no_pool_mapping saying "no pool mapping for topic"
  expect dead letter of j1 code no_pool_mapping status FAILED saying job.nowhere topic job.nowhere
  expect message on sys.job.dlq for j1 code no_pool_mapping
  expect history of j1 is PENDING FAILED(no_pool_mapping)
  expect worker w1 got nothing
  expect log "no pool mapping for topic" about j1
  expect metric jobs_completed_total{topic=other,status=JOB_STATUS_FAILED} 1

story: A preferred pool that is not mapped for the topic fails at once
  worker g1 joins pool gpu-batch capacity 4
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels preferred_pool=gpu-batch
  expect job j1 FAILED code no_pool_mapping saying "not mapped for topic"
  expect dead letter of j1 code no_pool_mapping
  expect message on sys.job.dlq for j1
  expect log "no pool mapping for topic" 1 times about j1
  expect worker g1 got nothing
  expect worker w1 got nothing

story: Requirements that no pool satisfies fail at once
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default requires gpu
  expect job j1 FAILED code no_pool_mapping saying "no pool satisfies requires"
  expect log "no pool mapping for topic" 1 times about j1
  expect dead letter of j1 code no_pool_mapping
  expect worker w1 got nothing

story: A pool that is draining takes no jobs
  given pool default status draining
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect job j1 FAILED code no_pool_mapping saying draining
  expect worker w1 got nothing

story: Without workers a job waits and says why
  submit job j1 topic job.default
  expect submit of j1 is stored
  expect job j1 PENDING waiting for no_workers attempts 1
  expect no dead letter of j1
  expect no message on sys.job.dlq
  advance 10s
  expect job j1 PENDING waiting for no_workers attempts 4
  expect history of j1 is PENDING(submitted) PENDING(no_workers)

story: Without workers a job is given up after fifty attempts
  submit job j1 topic job.default
  advance 22m
  expect job j1 PENDING waiting for no_workers attempts 48
  advance 2m
  expect job j1 FAILED code no_workers attempts 50
  expect dead letter of j1 code no_workers status FAILED saying attempts=50 attempts 50
  expect message on sys.job.dlq for j1 code no_workers

story: When every worker is overloaded a job waits and says so
  worker w1 joins pool default capacity 10 active 9
  worker w2 joins pool default capacity 10 cpu 95
  submit job j1 topic job.default
  expect job j1 PENDING waiting for pool_overloaded attempts 1 saying "2 workers"
  expect worker w1 got nothing
  expect worker w2 got nothing

story: A pool that stays overloaded is given up after fifty attempts
  worker w1 joins pool default capacity 10 cpu 99
  submit job j1 topic job.default
  advance 24m
  expect job j1 FAILED code pool_overloaded
  expect dead letter of j1 code pool_overloaded saying attempts=50 attempts 50

story: A tenant at its limit waits and says so
  policy limits topic job.default max_concurrent_jobs 1
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme
  submit job j2 topic job.default tenant acme
  expect job j1 RUNNING on w1
  expect job j2 PENDING waiting for tenant_limit attempts 1
  expect no dead letter of j2
  expect worker w1 did not get job j2

story: A tenant that stays at its limit is given up after fifty attempts
  given timeouts running 2h
  policy limits topic job.default max_concurrent_jobs 1
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme
  submit job j2 topic job.default tenant acme
  advance 24m
  expect job j2 FAILED code tenant_limit
  expect dead letter of j2 code tenant_limit saying attempts=50
  expect job j1 RUNNING

story: A job that policy denies is never dispatched
  policy denies topic job.default "no writes to production"
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect job j1 DENIED code safety_denied saying "no writes to production"
  expect dead letter of j1 code safety_denied status DENIED saying "no writes to production"
  expect message on sys.job.dlq for j1 code safety_denied
  expect metric safety_denied_total{topic=job.default} 1
  expect worker w1 got nothing

story: A decision that nobody knows is a denial
  policy says something unknown about topic job.default
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect job j1 DENIED code safety_unknown
  expect dead letter of j1 code safety_unknown
  expect worker w1 got nothing

story: A job that used up its retries fails with max_retries_exceeded
  policy limits topic job.default max_retries 1
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect worker w1 got job j1 epoch 1 env CORDUM_MAX_RETRIES=1
  worker w1 answers j1 FAILED_RETRYABLE message "out of memory"
  advance 3s
  expect worker w1 got job j1 epoch 2
  worker w1 answers j1 FAILED_RETRYABLE message "out of memory"
  expect job j1 FAILED code max_retries_exceeded saying "max retries exceeded (attempts=2, max_retries=1)"
  expect dead letter of j1 code max_retries_exceeded status FAILED saying "out of memory"
  expect worker w1 got job j1 2 times
