# What a worker's answer does.
given topic job.default -> pool default

story: SUCCEEDED ends a job without a dead letter
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 SUCCEEDED result redis://res:j1
  expect job j1 SUCCEEDED result redis://res:j1
  expect no dead letter of j1
  expect no message on sys.job.dlq

story: A result that the store cannot take is counted and taken later
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  the store fails the next write of SUCCEEDED
  worker w1 answers j1 SUCCEEDED result redis://res:j1
  expect job j1 RUNNING
  expect metric result_ptr_write_failure_total 1
  advance 2s
  expect job j1 SUCCEEDED result redis://res:j1
  expect metric result_ptr_write_failure_total 1

story: FAILED ends a job with the worker's own code and message
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED code E_DISK message "disk full"
  expect job j1 FAILED code E_DISK saying "disk full"
  expect dead letter of j1 code E_DISK status FAILED saying "disk full" last state RUNNING attempts 1
  expect message on sys.job.dlq for j1 code E_DISK
  expect metric jobs_completed_total{topic=job.default,status=JOB_STATUS_FAILED} 1

story: FAILED_FATAL ends a job as FAILED
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_FATAL code E_BAD message "no use"
  expect job j1 FAILED code E_BAD
  expect dead letter of j1 code E_BAD status FAILED

story: TIMEOUT of a worker ends a job as TIMEOUT
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 TIMEOUT message "took too long"
  expect job j1 TIMEOUT
  expect dead letter of j1 status TIMEOUT saying "took too long"

story: DENIED of a worker ends a job as DENIED
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 DENIED code E_POLICY
  expect job j1 DENIED code E_POLICY
  expect dead letter of j1 code E_POLICY status DENIED

story: CANCELLED of a worker ends a job as CANCELLED
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 CANCELLED
  expect job j1 CANCELLED
  expect dead letter of j1 status CANCELLED

story: A status that is no ending ends a job as FAILED
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 RUNNING
  expect job j1 FAILED
  expect log "result with a status that is no ending" as an error 1 times about j1
  expect dead letter of j1 status FAILED

story: FAILED_RETRYABLE is tried again after a pause
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE code E_NET message "no route"
  expect job j1 RETRYING waiting for worker_retry saying "no route"
  expect no dead letter of j1
  advance 1s
  expect job j1 RETRYING
  advance 2s
  expect job j1 RUNNING on w1 epoch 2 attempts 2 deliveries 2
  worker w1 answers j1 SUCCEEDED
  expect job j1 SUCCEEDED
  expect history of j1 is PENDING SCHEDULED DISPATCHED RUNNING RETRYING(E_NET) SCHEDULED DISPATCHED RUNNING SUCCEEDED

story: The structured code of a worker reaches the dead letter
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED code E_SHAPE enum JOB_INVALID_INPUT
  expect message on sys.job.dlq for j1 code E_SHAPE enum JOB_INVALID_INPUT

story: A structured code alone is enough
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED enum TRANSPORT_CONNECTION_LOST
  expect message on sys.job.dlq for j1 enum TRANSPORT_CONNECTION_LOST

story: A worker that sets no structured code is given the one that its code stands for
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED code permission_denied
  expect message on sys.job.dlq for j1 code permission_denied enum JOB_PERMISSION_DENIED

story: The worker's structured code counts more than what its code stands for
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED code timeout enum JOB_NOT_FOUND
  expect message on sys.job.dlq for j1 code timeout enum JOB_NOT_FOUND

story: FAILED_RETRYABLE without end uses up the retries of the policy
  policy limits topic job.default max_retries 2
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  advance 3s
  expect worker w1 got job j1 epoch 2 env CORDUM_MAX_RETRIES=2
  worker w1 answers j1 FAILED_RETRYABLE
  advance 5s
  expect worker w1 got job j1 epoch 3
  worker w1 answers j1 FAILED_RETRYABLE
  expect job j1 FAILED code max_retries_exceeded deliveries 3
  expect dead letter of j1 code max_retries_exceeded saying max_retries=2
  expect message on sys.job.dlq for j1 code max_retries_exceeded
  advance 1m
  expect worker w1 got job j1 3 times

story: A job that is to be retried leaves its worker to others
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.default
  expect job j2 PENDING waiting for pool_overloaded
  worker w1 answers j1 FAILED_RETRYABLE
  expect job j2 RUNNING on w1

story: The same answer twice counts once
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED code E_ONE
  the answer to j1 is delivered again
  expect job j1 FAILED code E_ONE
  expect 1 messages on sys.job.dlq for j1
  expect metric results_ignored_total{cause=terminal} 1
  expect metric jobs_completed_total 1

story: A late answer does not change how a job ended
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  cancel j1
  expect job j1 CANCELLED
  worker w1 answers j1 SUCCEEDED
  expect job j1 CANCELLED
  expect metric results_ignored_total{cause=terminal} 1

story: A success is not undone by a later failure
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 SUCCEEDED
  worker w1 answers j1 FAILED
  expect job j1 SUCCEEDED
  expect no dead letter of j1

story: An answer from the wrong worker is ignored
  worker w1 joins pool default capacity 4
  worker w2 joins pool default capacity 4 active 2
  submit job j1 topic job.default
  expect job j1 RUNNING on w1
  worker w2 answers j1 SUCCEEDED epoch 1
  expect job j1 RUNNING on w1
  expect metric results_ignored_total{cause=wrong_worker} 1
  worker w2 answers j1 SUCCEEDED without epoch
  expect job j1 RUNNING on w1
  expect metric results_ignored_total{cause=wrong_worker} 2
  worker w1 answers j1 SUCCEEDED
  expect job j1 SUCCEEDED

story: An answer from another worker counts once the assignee has expired
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 goes silent
  advance 40s
  worker w2 answers j1 SUCCEEDED epoch 1
  expect job j1 SUCCEEDED

story: An answer to an old epoch is ignored
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  advance 3s
  expect job j1 RUNNING on w1 epoch 2
  worker w1 answers j1 SUCCEEDED epoch 1
  expect job j1 RUNNING on w1 epoch 2
  expect metric results_ignored_total{cause=old_epoch} 1
  worker w1 answers j1 SUCCEEDED epoch 2
  expect job j1 SUCCEEDED

story: An answer to an epoch that never was is ignored
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 SUCCEEDED epoch 7
  expect job j1 RUNNING on w1 epoch 1
  expect metric results_ignored_total{cause=old_epoch} 1

story: An older worker that knows no epochs is matched by its name
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 SUCCEEDED without epoch result redis://res:j1
  expect job j1 SUCCEEDED result redis://res:j1

story: An answer before any dispatch is ignored
  submit job j1 topic job.default
  expect job j1 PENDING
  worker w1 answers j1 SUCCEEDED without epoch
  expect job j1 PENDING
  worker w1 answers j1 SUCCEEDED epoch 1
  expect job j1 PENDING
  expect metric results_ignored_total{cause=not_dispatched} 2

story: A second answer while the job is to be retried is ignored
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  the answer to j1 is delivered again
  expect job j1 RETRYING
  expect metric results_ignored_total 1
  advance 3s
  expect job j1 RUNNING epoch 2 attempts 2

story: An answer for an unknown job is kept as a dead letter and makes no job
  worker w1 joins pool default capacity 4
  worker w1 answers ghost SUCCEEDED without epoch
  expect no job ghost
  expect dead letter of ghost code unknown_job saying w1
  expect message on sys.job.dlq for ghost code unknown_job
  expect metric unknown_job_results_total 1

story: An answer that says nothing is rejected
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 UNSPECIFIED
  expect job j1 RUNNING
  expect metric validation_rejections_total 1

story: An answer that the store cannot take is taken later
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  the store fails the next write of SUCCEEDED
  worker w1 answers j1 SUCCEEDED result redis://res:j1
  expect job j1 RUNNING
  advance 1s
  expect job j1 SUCCEEDED result redis://res:j1

story: An answer whose commit was not confirmed counts once
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  the store loses the answer of the next write of FAILED
  worker w1 answers j1 FAILED code E_ONE
  expect job j1 FAILED code E_ONE
  advance 20s
  expect job j1 FAILED code E_ONE
  expect message on sys.job.dlq for j1 code E_ONE

story: An earlier dispatch that asks for another try leaves the current one alone
  worker w1 joins pool default capacity 4
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  advance 5s
  expect job j1 RUNNING on w1 epoch 2
  worker w1 answers j1 FAILED_RETRYABLE epoch 1
  expect job j1 RUNNING on w1 epoch 2
  worker w1 answers j1 SUCCEEDED epoch 2 result redis://res:j1
  expect job j1 SUCCEEDED result redis://res:j1

story: Blanks around the job's id do not hide a result
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers " j1 " SUCCEEDED without epoch
  expect job j1 SUCCEEDED
