# Cancelling, in every state (CAN-1..4). Cancels are durable and win by revision.
given topic job.default -> pool default

story: A waiting job is cancelled
  submit job j1 topic job.default
  cancel j1 reason "not needed"
  expect job j1 CANCELLED code cancelled saying "not needed"
  expect no dead letter of j1
  expect metric jobs_completed_total{status=JOB_STATUS_CANCELLED} 1
  worker w1 joins pool default capacity 4
  advance 1m
  expect worker w1 got nothing

story: A rolled back job is cancelled
  worker w1 joins pool default capacity 4
  the bus refuses the next dispatch
  submit job j1 topic job.default
  expect job j1 SCHEDULED
  cancel j1
  advance 1m
  expect job j1 CANCELLED
  expect worker w1 got nothing

story: A job is cancelled while it is being published and its worker is told
  worker w1 joins pool default capacity 4
  the bus holds the next dispatch
  submit job j1 topic job.default
  expect job j1 DISPATCHED
  cancel j1
  expect job j1 CANCELLED
  the bus lets the held dispatch go
  expect job j1 CANCELLED
  expect worker w1 got job j1
  expect worker w1 was told to cancel j1
  expect message on sys.job.cancel for j1

story: A worker is told of the end that its job met while it was being published
  worker w1 joins pool default capacity 4
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  the bus holds the next dispatch
  advance 3s
  expect job j1 DISPATCHED on w1 epoch 2
  worker w1 answers j1 SUCCEEDED epoch 1
  expect job j1 SUCCEEDED
  expect message on sys.job.cancel for j1
  the bus lets the held dispatch go
  expect worker w1 got job j1 epoch 2
  expect 2 messages on sys.job.cancel for j1

story: A worker that answers before its job is known to run is told nothing
  worker w1 joins pool default capacity 4
  the store fails the next write of RUNNING
  submit job j1 topic job.default
  worker w1 answers j1 CANCELLED
  expect job j1 CANCELLED
  advance 10s
  expect no message on sys.job.cancel

story: A running job is cancelled and its worker is told
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  cancel j1
  expect job j1 CANCELLED
  expect worker w1 was told to cancel j1

story: A job that is to be retried is cancelled
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  cancel j1
  advance 1m
  expect job j1 CANCELLED
  expect worker w1 got job j1 1 times

story: A job that waits for approval is cancelled
  policy wants approval for topic job.default
  submit job j1 topic job.default
  cancel j1
  expect job j1 CANCELLED

story: A job is cancelled while policy is asked and never dispatched
  given policy answers after 2s
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect job j1 PENDING
  cancel j1
  expect job j1 CANCELLED
  advance 1m
  expect job j1 CANCELLED
  expect worker w1 got nothing

story: Cancelling an ended job changes nothing
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 SUCCEEDED
  cancel j1
  expect job j1 SUCCEEDED
  expect metric jobs_completed_total 1

story: Cancelling twice is cancelling once
  submit job j1 topic job.default
  cancel j1
  cancel j1
  expect job j1 CANCELLED
  expect metric jobs_completed_total 1

story: Cancelling an unknown job does nothing
  cancel nobody
  advance 10s
  expect no job nobody
  expect metric job_cancel_failures_total 0

story: A cancel does not overtake its own submit that is stored and was not taken yet
  worker w1 joins pool default capacity 4
  the store fails the next write
  submit job j1 topic job.default
  expect submit of j1 is stored
  advance 500ms
  expect no job j1
  cancel j1 reason "not needed"
  advance 600ms
  expect job j1 RUNNING on w1
  advance 5s
  expect job j1 CANCELLED saying "not needed"
  expect message on sys.job.cancel for j1

story: A cancel that the store cannot take is taken later
  submit job j1 topic job.default
  the store fails the next write of CANCELLED
  cancel j1
  expect job j1 PENDING
  expect metric job_cancel_failures_total 1
  advance 1s
  expect job j1 CANCELLED

story: A cancelled job makes room for the next
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.default
  expect job j2 PENDING waiting for pool_overloaded
  cancel j1
  expect job j2 RUNNING on w1
