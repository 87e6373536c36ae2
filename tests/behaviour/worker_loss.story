# A worker that falls silent while it has jobs.
given topic job.default -> pool default

story: A job of a lost worker is marked and times out at the usual time
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 goes silent
  worker w2 joins pool default capacity 4
  advance 40s
  expect job j1 RUNNING on w1 epoch 1
  expect history of j1 is PENDING SCHEDULED DISPATCHED RUNNING "RUNNING(worker lost: w1)"
  expect metric workers_lost_total 1
  expect worker w2 got nothing
  advance 15m
  expect job j1 TIMEOUT code timeout

story: A job that may run twice is given to another worker
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  worker w1 goes silent
  worker w2 joins pool default capacity 4
  advance 29s
  expect job j1 RUNNING on w1
  advance 3s
  expect job j1 RUNNING on w2 epoch 2 deliveries 2
  expect worker w2 got job j1 epoch 2
  worker w2 answers j1 SUCCEEDED
  expect job j1 SUCCEEDED

story: The lost worker's answer still counts when it comes first
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  worker w1 goes silent
  worker w2 joins pool default capacity 4
  advance 32s
  expect job j1 RUNNING on w2 epoch 2
  worker w1 answers j1 SUCCEEDED epoch 1 result redis://res:first
  expect job j1 SUCCEEDED result redis://res:first

story: A job that may run twice waits when its lost worker was the only one
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  worker w1 goes silent
  advance 32s
  expect job j1 RETRYING waiting for no_workers
  worker w2 joins pool default capacity 4
  expect job j1 RUNNING on w2 epoch 2

story: A worker that comes back in time has lost nothing
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  worker w1 goes silent
  advance 25s
  worker w1 speaks again
  advance 1m
  expect job j1 RUNNING on w1 epoch 1
  expect metric workers_lost_total 0

story: A lost worker that answers after all is heard
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 goes silent
  advance 40s
  worker w1 answers j1 SUCCEEDED
  expect job j1 SUCCEEDED

story: A worker that does not come back after a restart of the scheduler is lost
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  the scheduler crashes
  worker w1 leaves
  the scheduler restarts
  worker w2 joins pool default capacity 4
  advance 29s
  expect job j1 RUNNING on w1
  advance 3s
  expect job j1 RUNNING on w2 epoch 2

story: What a job of a lost worker held is given to the next at once
  policy limits topic job.default max_concurrent_jobs 1
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  submit job j2 topic job.default
  worker w1 goes silent
  worker w2 joins pool default capacity 4
  expect job j2 PENDING waiting for tenant_limit
  advance 30s
  expect job j1 RUNNING on w1
  advance 300ms
  expect job j1 RETRYING
  expect job j2 RUNNING on w2

story: All jobs of a lost worker are noticed, however many
  worker w1 joins pool default capacity 2000
  submit 1100 jobs j topic job.default labels retry_on_worker_loss=true
  expect job j1100 RUNNING on w1
  worker w1 leaves
  advance 35s
  expect job j1 RETRYING
  expect job j999 RETRYING
  expect job j1000 RETRYING
  expect job j1001 RETRYING
  expect job j1099 RETRYING
  expect job j1100 RETRYING

story: A job that was handed out as often as policy allows is not handed out again
  policy limits topic job.default max_retries 1
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  worker w2 joins pool default capacity 4
  worker w1 leaves
  advance 36s
  expect job j1 RUNNING on w2 epoch 2 deliveries 2
  worker w3 joins pool default capacity 4
  worker w2 leaves
  advance 36s
  expect job j1 FAILED code max_retries_exceeded saying "attempts=2, max_retries=1"
  expect dead letter of j1 code max_retries_exceeded
  expect worker w3 got nothing
  expect metric jobs_completed_total{status=JOB_STATUS_FAILED} 1

story: A lost worker that may be at it is told when its job is given up
  policy limits topic job.default max_retries 1
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  worker w2 joins pool default capacity 4
  worker w1 goes silent
  advance 36s
  expect job j1 RUNNING on w2
  worker w2 goes silent
  advance 36s
  expect job j1 FAILED code max_retries_exceeded
  expect worker w1 was told to cancel j1
  expect worker w2 was told to cancel j1

story: The worker of the current dispatch is told when an earlier one ended the job
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  worker w1 goes silent
  worker w2 joins pool default capacity 4
  advance 32s
  expect job j1 RUNNING on w2 epoch 2
  worker w1 answers j1 FAILED epoch 1
  expect job j1 FAILED
  expect worker w2 was told to cancel j1

story: A lost worker that asks for another try does not end the run elsewhere
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  worker w1 goes silent
  worker w2 joins pool default capacity 4
  advance 32s
  expect job j1 RUNNING on w2 epoch 2
  worker w1 answers j1 FAILED_RETRYABLE epoch 1
  expect job j1 RUNNING on w2 epoch 2
  worker w1 answers j1 SUCCEEDED epoch 1
  expect job j1 RUNNING on w2 epoch 2
  worker w2 answers j1 SUCCEEDED result redis://res:j1
  expect job j1 SUCCEEDED result redis://res:j1

story: After a restart nobody answers for a worker that was not heard yet (H-45)
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w2 joins pool default capacity 4
  worker w1 goes silent
  the scheduler crashes
  the scheduler restarts
  worker w2 answers j1 SUCCEEDED epoch 1
  expect job j1 RUNNING on w1
  expect metric results_ignored_total{cause=wrong_worker} 1
  advance 31s
  worker w2 answers j1 SUCCEEDED epoch 1
  expect job j1 SUCCEEDED

story: A job that is written to at that moment is lost with its worker all the same
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels retry_on_worker_loss=true
  submit job j2 topic job.default
  worker w1 leaves
  worker w2 joins pool default capacity 4
  somebody else writes the record before the next write of RETRYING
  advance 36s
  expect job j1 RUNNING on w2 epoch 2
  expect job j2 RUNNING on w1 epoch 1

story: A job whose worker is lost after its last attempt is given up
  submit job j1 topic job.default labels retry_on_worker_loss=true
  advance 1330s
  expect job j1 PENDING waiting for no_workers
  worker w1 joins pool default capacity 4
  expect job j1 RUNNING on w1 attempts 50
  worker w2 joins pool default capacity 4
  worker w1 leaves
  advance 31s
  expect job j1 FAILED code max_scheduling_retries saying attempts=50
  expect dead letter of j1 code max_scheduling_retries saying "max scheduling retries exceeded"
  expect message on sys.job.dlq for j1 code max_scheduling_retries enum JOB_RESOURCE_EXHAUSTED
  expect worker w2 got nothing
