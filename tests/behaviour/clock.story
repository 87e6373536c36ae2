# The clock of the machine is set while jobs are on their way: nothing comes sooner or later for it.

given topic job.default -> pool default

story: A clock that is set forward times nobody out
  given timeouts running 15m
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  submit job j2 topic job.default deadline 10m
  advance 2s
  the clock is set forward by 35m
  advance 9m
  expect job j1 RUNNING on w1
  expect job j2 RUNNING on w1
  advance 1m
  expect job j2 TIMEOUT
  expect job j1 RUNNING on w1
  advance 6m
  expect job j1 TIMEOUT

story: A sign of life after the clock was set leaves the timeout where it was
  given timeouts running 15m
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  the clock is set forward by 35m
  advance 2s
  worker w1 tells that j1 is at 10 percent
  advance 1m
  expect job j1 RUNNING on w1
  advance 15m
  expect job j1 TIMEOUT

story: A clock that is set back makes no retry wait for longer
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  expect job j1 RETRYING
  the clock is set back by 35m
  advance 4s
  expect job j1 RUNNING on w1 epoch 2

story: A clock that is set back makes nobody wait for longer after a restart
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  the clock is set back by 35m
  the scheduler crashes
  the scheduler restarts
  advance 4s
  expect job j1 RUNNING on w1 epoch 2

story: A clock that is set back leaves no dispatch in the dark
  worker w1 joins pool default capacity 4
  the bus loses the next dispatch
  submit job j1 topic job.default
  expect job j1 DISPATCHED on w1 epoch 1
  the clock is set back by 35m
  advance 3s
  expect job j1 RUNNING on w1 epoch 2

story: A clock that is set back leaves no deadline unnoticed
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default deadline 10s
  the clock is set back by 35m
  advance 11s
  expect job j1 TIMEOUT

story: A clock that is set back leaves no dead letter unpublished
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  the bus refuses the next 2 dead letters
  worker w1 answers j1 FAILED code E1
  expect no message on sys.job.dlq
  the clock is set back by 35m
  advance 16s
  expect message on sys.job.dlq for j1 code E1

story: A clock that is set back lets no newcomer overtake
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.default
  the clock is set back by 35m
  advance 2s
  submit job j3 topic job.default
  worker w1 answers j1 SUCCEEDED
  expect job j2 RUNNING on w1
  expect job j3 PENDING waiting for pool_overloaded

story: The result of a retried job counts although the clock was set back
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE without epoch
  advance 4s
  expect job j1 RUNNING on w1 epoch 2
  the clock is set back by 35m
  advance 2s
  worker w1 answers j1 SUCCEEDED without epoch
  expect job j1 SUCCEEDED
  expect metric results_ignored_total 0

story: A worker that restarted lends its lost slots although the clock was set back
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  advance 6s
  the clock is set back by 35m
  worker w1 restarts
  submit job j2 topic job.default
  advance 16s
  expect job j2 RUNNING on w1
