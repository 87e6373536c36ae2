# A submit that is delivered again, in every state of its job.
given topic job.default -> pool default

story: Again while it waits for a worker
  submit job j1 topic job.default
  expect job j1 PENDING waiting for no_workers attempts 1
  the submit of j1 is delivered again
  the submit of j1 is delivered again
  expect job j1 PENDING waiting for no_workers attempts 1
  expect history of j1 is PENDING(submitted) PENDING(no_workers)
  expect metric jobs_received_total 1
  worker w1 joins pool default capacity 4
  expect job j1 RUNNING on w1
  expect worker w1 got job j1 1 times

story: Again while it is SCHEDULED after a rollback
  worker w1 joins pool default capacity 4
  the bus refuses the next dispatch
  submit job j1 topic job.default
  expect job j1 SCHEDULED attempts 2
  the submit of j1 is delivered again
  expect job j1 RUNNING on w1 attempts 3 epoch 2
  expect worker w1 got job j1 1 times

story: Again while it is being published
  worker w1 joins pool default capacity 4
  the bus holds the next dispatch
  submit job j1 topic job.default
  expect job j1 DISPATCHED on w1 epoch 1
  the submit of j1 is delivered again
  advance 2s
  expect job j1 DISPATCHED epoch 1
  the bus lets the held dispatch go
  advance 10s
  expect job j1 RUNNING on w1 epoch 1
  expect 1 publishes on worker.w1.jobs

story: Again while it is RUNNING
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  the submit of j1 is delivered again
  advance 10s
  expect job j1 RUNNING on w1 epoch 1 attempts 1
  expect 1 publishes on worker.w1.jobs

story: Again while it is to be retried
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  expect job j1 RETRYING
  the submit of j1 is delivered again
  expect submit of j1 is stored
  expect job j1 RETRYING waiting for worker_retry
  advance 3s
  expect job j1 RUNNING on w1 epoch 2
  advance 1m
  expect worker w1 got job j1 2 times

story: Again while it waits for approval
  policy wants approval for topic job.default
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect job j1 APPROVAL_REQUIRED
  the submit of j1 is delivered again
  advance 1m
  expect job j1 APPROVAL_REQUIRED
  expect worker w1 got nothing

story: Again after it SUCCEEDED
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 SUCCEEDED
  the submit of j1 is delivered again
  expect job j1 SUCCEEDED
  expect 1 publishes on worker.w1.jobs
  expect no message on sys.job.dlq

story: Again after it FAILED, its dead letter keeps its reason
  submit job j1 topic job.nowhere
  the submit of j1 is delivered again
  expect job j1 FAILED
  expect dead letter of j1 code no_pool_mapping
  expect 1 messages on sys.job.dlq for j1

story: Again after it was DENIED
  policy denies topic job.default "no"
  submit job j1 topic job.default
  policy allows topic job.default
  worker w1 joins pool default capacity 4
  the submit of j1 is delivered again
  expect job j1 DENIED
  expect worker w1 got nothing
  expect dead letter of j1 code safety_denied

story: Again after it was CANCELLED
  submit job j1 topic job.default
  cancel j1
  worker w1 joins pool default capacity 4
  the submit of j1 is delivered again
  expect job j1 CANCELLED
  expect worker w1 got nothing

story: Again after its TIMEOUT
  submit job j1 topic job.default deadline 2s
  advance 3s
  expect job j1 TIMEOUT
  worker w1 joins pool default capacity 4
  the submit of j1 is delivered again
  expect job j1 TIMEOUT
  expect worker w1 got nothing

story: A submit whose job cannot be read is not dispatched until it can
  worker w1 joins pool default capacity 4
  the store fails the next read
  submit job j1 topic job.default
  expect submit of j1 is stored
  expect no job j1
  expect worker w1 got nothing
  advance 1s
  expect job j1 RUNNING on w1 epoch 1
