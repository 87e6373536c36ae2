# A worker whose last heartbeat is older than its 30 s, still in the registry for the moment until
# the next sweep. Sweeps come every 250 ms, so the moment is made by joining between two.
given topic job.default -> pool default

story: A stale worker is passed over for one that lives
  advance 100ms
  worker dead joins pool default capacity 4
  worker dead goes silent
  worker live joins pool default capacity 4 active 1
  advance 30100ms
  submit job j1 topic job.default
  expect job j1 RUNNING on live attempts 1
  expect log "stale worker detected, retrying dispatch" 1 times about j1
  expect metric stale_worker_retry_total{topic=job.default,worker=dead} 1
  expect worker dead got nothing

story: Stale workers are picked exactly three times and then the job waits
  advance 100ms
  worker w1 joins pool default capacity 4
  worker w2 joins pool default capacity 4
  worker w3 joins pool default capacity 4
  worker w4 joins pool default capacity 4
  worker w1 goes silent
  worker w2 goes silent
  worker w3 goes silent
  worker w4 goes silent
  advance 30100ms
  submit job j1 topic job.default
  expect job j1 PENDING waiting for stale_worker attempts 1 saying "stale worker w3"
  expect log "stale worker detected, retrying dispatch" 3 times
  expect metric stale_worker_retry_total{topic=job.default} 3
  expect metric stale_worker_retry_total{worker=w1} 1
  expect metric stale_worker_retry_total{worker=w2} 1
  expect metric stale_worker_retry_total{worker=w3} 1
  expect metric stale_worker_retry_total{worker=w4} 0
  expect no dead letter of j1

story: A job that queues behind another is not said to have met the stale workers
  advance 100ms
  worker w1 joins pool default capacity 4
  worker w1 goes silent
  advance 30100ms
  submit job j1 topic job.default
  expect job j1 PENDING waiting for stale_worker
  submit job j2 topic job.default
  expect job j2 PENDING waiting for stale_worker
  expect log "stale worker detected, retrying dispatch" 0 times about j2

story: The number of stale picks can be set
  given 2 stale picks
  advance 100ms
  worker w1 joins pool default capacity 4
  worker w2 joins pool default capacity 4
  worker w3 joins pool default capacity 4
  worker w1 goes silent
  worker w2 goes silent
  worker w3 goes silent
  advance 30100ms
  submit job j1 topic job.default
  expect job j1 PENDING waiting for stale_worker
  expect log "stale worker detected, retrying dispatch" 2 times

story: A single stale worker leaves the job waiting as stale and not as without workers
  advance 100ms
  worker w1 joins pool default capacity 4
  worker w1 goes silent
  advance 30100ms
  submit job j1 topic job.default
  expect job j1 PENDING waiting for stale_worker attempts 1
  expect log "stale worker detected, retrying dispatch" 1 times
  worker w1 speaks again
  expect job j1 RUNNING on w1

story: A preferred worker that is stale is not waited for
  advance 100ms
  worker dead joins pool default capacity 4
  worker dead goes silent
  worker live joins pool default capacity 4
  advance 30100ms
  submit job j1 topic job.default labels preferred_worker_id=dead
  expect job j1 RUNNING on live
  expect log "stale worker detected, retrying dispatch" 1 times

story: A job that waits for stale workers ends with the code of what it waits for last
  advance 100ms
  worker w1 joins pool default capacity 4
  worker w1 goes silent
  advance 30100ms
  submit job j1 topic job.default
  expect job j1 PENDING waiting for stale_worker
  advance 10s
  expect job j1 PENDING waiting for no_workers
  advance 24m
  expect job j1 FAILED code no_workers
  expect dead letter of j1 code no_workers saying attempts=50

story: A job whose last attempt finds a stale worker ends with that code
  submit job j1 topic job.default
  advance 1300s
  expect job j1 PENDING waiting for no_workers
  advance 100ms
  worker w1 joins pool default capacity 1
  expect job j1 RUNNING on w1 attempts 49
  submit job j2 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  expect job j2 RUNNING on w1
  advance 15s
  worker w1 goes silent
  advance 16s
  expect job j1 RETRYING waiting for pool_overloaded attempts 50
  advance 14100ms
  worker w1 answers j2 SUCCEEDED
  expect job j1 FAILED code stale_worker saying attempts=50
  expect dead letter of j1 code stale_worker saying "max scheduling retries exceeded (attempts=50)"
  expect message on sys.job.dlq for j1 code stale_worker
