# Deadlines and timeouts: TIMEOUT with a dead letter, and the worker is told.
given topic job.default -> pool default
given topic job.slow -> pool default

story: A waiting job ends at its deadline
  submit job j1 topic job.default deadline 5s
  advance 4s
  expect job j1 PENDING
  advance 2s
  expect job j1 TIMEOUT code timeout saying "timeout: deadline expired"
  expect dead letter of j1 code timeout status TIMEOUT last state PENDING
  expect message on sys.job.dlq for j1 code timeout
  expect metric jobs_completed_total{status=JOB_STATUS_TIMEOUT} 1

story: A running job ends at its deadline and its worker is told
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default deadline 5s
  expect job j1 RUNNING
  advance 6s
  expect job j1 TIMEOUT saying "timeout: deadline expired"
  expect dead letter of j1 code timeout last state RUNNING
  expect worker w1 was told to cancel j1

story: A lost worker that may be at it is told when its job ends at its deadline
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default deadline 40s labels retry_on_worker_loss=true
  worker w1 goes silent
  advance 35s
  expect job j1 RETRYING waiting for no_workers
  advance 6s
  expect job j1 TIMEOUT
  expect worker w1 was told to cancel j1

story: A worker is told what is left of a job's time
  submit job j1 topic job.default deadline 10s
  advance 4s
  worker w1 joins pool default capacity 4
  expect worker w1 got job j1 deadline 6s

story: A deadline does not move when the job is tried again
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default deadline 10s
  worker w1 answers j1 FAILED_RETRYABLE
  advance 8s
  expect job j1 RUNNING epoch 2
  advance 3s
  expect job j1 TIMEOUT

story: A deadline is not forgotten in a restart
  submit job j1 topic job.default deadline 10s
  the scheduler crashes
  advance 30s
  the scheduler restarts
  advance 1s
  expect job j1 TIMEOUT saying "timeout: deadline expired"

story: A running job ends after the running timeout
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  advance 899s
  expect job j1 RUNNING
  advance 2s
  expect job j1 TIMEOUT code timeout saying "timeout: RUNNING >15m0s"
  expect dead letter of j1 code timeout status TIMEOUT
  expect message on sys.job.dlq for j1 code timeout
  expect worker w1 was told to cancel j1

story: A job that is never out of the publish ends after the dispatch timeout
  worker w1 joins pool default capacity 4
  the bus holds the next dispatch
  submit job j1 topic job.default
  expect job j1 DISPATCHED
  advance 299s
  expect job j1 DISPATCHED epoch 1
  advance 2s
  expect job j1 TIMEOUT code timeout saying "timeout: DISPATCHED >5m0s"
  expect dead letter of j1 code timeout

story: A topic may have timeouts of its own
  given timeouts running 20s of topic job.slow
  worker w1 joins pool default capacity 4
  submit job j1 topic job.slow
  submit job j2 topic job.default
  advance 21s
  expect job j1 TIMEOUT saying "timeout: RUNNING >20s"
  expect job j2 RUNNING

story: Policy lowers a deadline and tells the worker
  policy limits topic job.default max_runtime 10s
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default deadline 60s
  expect worker w1 got job j1 deadline 10s
  advance 11s
  expect job j1 TIMEOUT saying "timeout: deadline expired"

story: Policy never raises a deadline
  policy limits topic job.default max_runtime 60s
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default deadline 5s
  expect worker w1 got job j1 deadline 5s
  advance 6s
  expect job j1 TIMEOUT

story: A job that timed out makes room for the next
  given timeouts running 20s
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.default
  advance 21s
  expect job j1 TIMEOUT
  expect job j2 RUNNING on w1
