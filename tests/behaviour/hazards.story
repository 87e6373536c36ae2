# The known ways in which systems of this kind lose, repeat or misjudge work, each under its number
# in the list of hazards that Fairlead was built against. Hazards of placement and of the registry
# have unit tests beside their sources; leases of several replicas are the simulator's.

given topic job.default -> pool default
given topic job.limited -> pool default

story: H-02 A resubmission does not overwrite a job
  submit job j1 topic job.default context redis://ctx:first
  submit job j1 topic job.default context redis://ctx:second tenant thief
  worker w1 joins pool default
  expect job j1 RUNNING on w1 epoch 1
  expect metric resubmit_conflicts_total 1
  expect worker w1 got job j1 1 times

story: H-03 The tenant that is counted is the tenant that is limited
  policy limits topic job.limited max_concurrent_jobs 1
  worker w1 joins pool default capacity 10
  submit job j1 topic job.limited env tenant_id=acme
  submit job j2 topic job.limited tenant acme
  expect job j1 RUNNING
  expect job j2 PENDING waiting for tenant_limit

story: H-04 A job that cannot be read is not taken for an exhausted one
  worker w1 joins pool default
  the store fails the next read
  submit job j1 topic job.default
  expect no job j1
  advance 2s
  expect job j1 RUNNING on w1 attempts 1
  expect no dead letter of j1

story: H-05 Jobs that come together keep their own traces
  given policy answers after 2s
  worker w1 joins pool default capacity 10
  submit job j1 topic job.default trace trace-one
  submit job j2 topic job.default trace trace-two
  expect worker w1 got nothing
  advance 2s
  expect worker w1 got job j1 trace trace-one
  expect worker w1 got job j2 trace trace-two

story: H-06 A crash between the write and the publish does not swallow the job
  worker w1 joins pool default
  the scheduler crashes before the next dispatch
  submit job j1 topic job.default
  advance 5s
  the scheduler restarts
  expect job j1 DISPATCHED on w1 epoch 1
  the submit of j1 is delivered again
  # At once: no sweep has looked at it.
  expect job j1 RUNNING on w1 epoch 2

story: H-07 A redelivery leaves the reason of a dead letter alone
  submit job j1 topic job.nowhere
  the submit of j1 is delivered again
  expect dead letter of j1 code no_pool_mapping
  expect message on sys.job.dlq for j1

story: H-08 A redelivered submit of a job that waits for approval does not loop
  policy wants approval for topic job.default
  submit job j1 topic job.default
  the submit of j1 is delivered again
  expect submit of j1 is stored
  expect job j1 APPROVAL_REQUIRED

story: H-09 The gate compares what is submitted with what is stored
  worker w1 joins pool default
  submit job j1 topic job.default
  worker w1 answers j1 SUCCEEDED
  submit job j1 topic job.default context redis://ctx:other
  expect job j1 SUCCEEDED
  expect metric resubmit_conflicts_total 1

story: H-16 What policy says of a throttle is never read for words
  policy throttles topic job.default because "no workers available, all overloaded"
  worker w1 joins pool default
  submit job j1 topic job.default
  expect job j1 PENDING waiting for safety_throttled attempts 0 saying "no workers available"
  advance 30m
  expect job j1 PENDING waiting for safety_throttled attempts 0
  policy allows topic job.default
  advance 5s
  expect job j1 RUNNING on w1 attempts 1

story: H-16 Why policy cannot be asked is never read for words
  policy cannot be asked about topic job.default because "no workers available, all overloaded"
  worker w1 joins pool default
  submit job j1 topic job.default
  expect job j1 PENDING waiting for safety_unavailable attempts 0 saying "no workers available"
  advance 30m
  expect job j1 PENDING waiting for safety_unavailable attempts 0
  policy allows topic job.default
  advance 6s
  expect job j1 RUNNING on w1 attempts 1

story: H-17 A job does not stand in its own way
  policy limits topic job.limited max_concurrent_jobs 1
  submit job j1 topic job.limited tenant acme
  expect job j1 PENDING waiting for no_workers
  worker w1 joins pool default
  expect job j1 RUNNING on w1

story: H-18 A tenant's limit holds however many jobs come at once
  given policy answers after 2s
  policy limits topic job.limited max_concurrent_jobs 2
  worker w1 joins pool default capacity 10
  submit job j1 topic job.limited tenant acme
  submit job j2 topic job.limited tenant acme
  submit job j3 topic job.limited tenant acme
  expect worker w1 got nothing
  advance 2s
  expect job j1 RUNNING
  expect job j2 RUNNING
  expect job j3 PENDING waiting for tenant_limit

story: H-19 A deadline does not slide with retries
  worker w1 joins pool default
  submit job j1 topic job.default deadline 10s
  advance 5s
  worker w1 answers j1 FAILED_RETRYABLE
  advance 6s
  expect job j1 TIMEOUT code timeout saying "deadline expired"

story: H-27 A worker that dies with a job is noticed
  worker w1 joins pool default
  submit job j1 topic job.default labels retry_on_worker_loss=true
  worker w1 leaves
  worker w2 joins pool default
  advance 35s
  expect job j1 RUNNING on w2

story: H-30 A failed rollback leaves no blind window
  worker w1 joins pool default
  the bus refuses the next dispatch
  the store fails the next write of SCHEDULED
  submit job j1 topic job.default
  expect job j1 DISPATCHED
  advance 5s
  expect job j1 RUNNING on w1
  expect metric dispatch_rollback_failures_total{topic=job.default} 1

story: H-31 Publishes that no worker saw do not use up the retries of the policy
  policy limits topic job.limited max_retries 1
  worker w1 joins pool default
  the bus refuses the next 2 dispatches
  submit job j1 topic job.limited
  advance 40s
  expect job j1 RUNNING on w1 attempts 5 deliveries 1

story: H-32 A publish that may have arrived is not made elsewhere
  worker w1 joins pool default
  worker w2 joins pool default
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  advance 5s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w2 did not get job j1

story: H-33 A dispatch that is made again is no duplicate of the first
  worker w1 joins pool default
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  advance 5s
  expect worker w1 got job j1 epoch 1
  expect worker w1 got job j1 epoch 2

story: H-34 The record knows whether a worker ever began
  worker w1 joins pool default
  submit job j1 topic job.default
  expect history of j1 is PENDING SCHEDULED DISPATCHED RUNNING
  worker w1 tells that j1 is at 10 percent
  expect history of j1 is PENDING SCHEDULED DISPATCHED RUNNING "RUNNING(first sign from w1)"
  worker w1 tells that j1 is at 20 percent
  expect history of j1 is PENDING SCHEDULED DISPATCHED RUNNING "RUNNING(first sign from w1)"
  worker w1 answers j1 SUCCEEDED
  worker w1 tells that j1 is at 30 percent
  expect job j1 SUCCEEDED

story: H-34 A dispatch of which its worker tells has arrived
  worker w1 joins pool default
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  expect job j1 DISPATCHED on w1
  worker w1 tells that j1 is at 10 percent epoch 1
  expect job j1 RUNNING on w1 epoch 1
  advance 10s
  expect job j1 RUNNING on w1 epoch 1
  expect worker w1 got job j1 1 times
  advance 15m
  expect job j1 TIMEOUT saying "timeout: RUNNING >15m0s"

story: H-34 Only the worker of the current dispatch can give a sign
  worker w1 joins pool default
  submit job j1 topic job.default
  worker w2 joins pool default
  worker w2 tells that j1 is at 10 percent epoch 1
  expect history of j1 is PENDING SCHEDULED DISPATCHED RUNNING
  worker w1 answers j1 FAILED_RETRYABLE
  the bus loses the next dispatch
  advance 3s
  expect job j1 DISPATCHED epoch 2
  worker w1 tells that j1 is at 10 percent epoch 1
  worker w1 tells that j1 is at 10 percent
  expect job j1 DISPATCHED epoch 2
  worker w1 tells that j9 is at 10 percent
  expect no job j9

story: H-34 Each dispatch has a first sign of its own
  worker w1 joins pool default
  submit job j1 topic job.default
  worker w1 tells that j1 is at 10 percent epoch 1
  worker w1 answers j1 FAILED_RETRYABLE
  advance 3s
  expect job j1 RUNNING epoch 2
  worker w1 tells that j1 is at 10 percent epoch 2
  expect history of j1 is PENDING SCHEDULED DISPATCHED RUNNING "RUNNING(first sign from w1)" RETRYING SCHEDULED DISPATCHED RUNNING "RUNNING(first sign from w1)"

story: H-35 The record knows whom a job was given to
  worker w1 joins pool default
  the bus holds the next dispatch
  submit job j1 topic job.default
  expect job j1 DISPATCHED on w1
  the bus lets the held dispatch go
  expect job j1 RUNNING on w1

story: H-36 A cancel wins over a dispatch under way, and the worker is told
  worker w1 joins pool default
  the bus holds the next dispatch
  submit job j1 topic job.default
  cancel j1
  the bus lets the held dispatch go
  expect job j1 CANCELLED
  expect worker w1 was told to cancel j1

story: H-38 Another write to the record does not keep a job from RUNNING
  worker w1 joins pool default
  somebody else writes the record before the next write of RUNNING
  submit job j1 topic job.default
  expect job j1 RUNNING on w1 epoch 1
  expect history of j1 is PENDING SCHEDULED DISPATCHED "DISPATCHED(written by somebody else)" RUNNING

story: H-38 Another write to the record does not swallow a result
  worker w1 joins pool default
  submit job j1 topic job.default
  somebody else writes the record before the next write of SUCCEEDED
  worker w1 answers j1 SUCCEEDED result redis://res:j1
  expect job j1 SUCCEEDED result redis://res:j1

story: H-38 Another write to the record does not swallow a cancel
  worker w1 joins pool default
  submit job j1 topic job.default
  somebody else writes the record before the next write of CANCELLED
  cancel j1
  expect job j1 CANCELLED

story: H-38 Another write to the record does not keep a rollback from being made
  worker w1 joins pool default
  the bus refuses the next dispatch
  somebody else writes the record before the next write of SCHEDULED
  submit job j1 topic job.default
  advance 10s
  expect job j1 RUNNING on w1

story: H-38 Another write to the record does not keep a job from its worker
  submit job j1 topic job.default
  somebody else writes the record before the next write of DISPATCHED
  worker w1 joins pool default
  advance 10s
  expect job j1 RUNNING on w1

story: H-38 Another write to the record does not keep a job from its timeout
  worker w1 joins pool default
  submit job j1 topic job.default deadline 5s
  somebody else writes the record before the next write of TIMEOUT
  advance 6s
  expect job j1 TIMEOUT

story: H-39 A job without a free worker does not wait for minutes
  submit job j1 topic job.default
  advance 10s
  worker w1 joins pool default
  expect job j1 RUNNING on w1

story: H-41 A timeout has a dead letter, a count and a word to the worker
  worker w1 joins pool default
  submit job j1 topic job.default deadline 2s
  advance 3s
  expect dead letter of j1 code timeout
  expect message on sys.job.dlq for j1
  expect metric jobs_completed_total{topic=job.default,status=JOB_STATUS_TIMEOUT} 1
  expect worker w1 was told to cancel j1

story: H-42 The dead letter of a result is not lost with its message
  worker w1 joins pool default
  submit job j1 topic job.default
  the scheduler crashes before the next dead letter
  worker w1 answers j1 FAILED code broken
  the scheduler restarts
  advance 20s
  expect dead letter of j1 code broken

story: H-43 A job that is to be retried is retried
  worker w1 joins pool default
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  expect job j1 RETRYING
  advance 5s
  expect job j1 RUNNING on w1 epoch 2

story: H-44 A result for an unknown job makes no job
  worker w1 joins pool default
  worker w1 answers j9 FAILED epoch 1
  expect no job j9
  expect dead letter of j9 code unknown_job
  expect metric unknown_job_results_total 1

story: H-45 A result is the assignee's to give
  worker w1 joins pool default
  submit job j1 topic job.default
  worker w2 joins pool default
  worker w2 answers j1 SUCCEEDED epoch 1
  expect job j1 RUNNING on w1
  expect metric results_ignored_total{cause=wrong_worker} 1

story: H-46 A worker may deny a job that it runs
  worker w1 joins pool default
  submit job j1 topic job.default
  worker w1 answers j1 DENIED
  expect job j1 DENIED

story: H-47 A result whose job cannot be read waits until it can
  worker w1 joins pool default
  submit job j1 topic job.default
  the store fails the next read
  worker w1 answers j1 SUCCEEDED
  expect job j1 RUNNING
  advance 2s
  expect job j1 SUCCEEDED

story: H-49 Retryable, then success, are two results
  worker w1 joins pool default
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  advance 4s
  worker w1 answers j1 SUCCEEDED
  expect job j1 SUCCEEDED

story: H-50 A result before any dispatch counts for nothing
  submit job j1 topic job.default
  worker w9 joins pool elsewhere
  worker w9 answers j1 SUCCEEDED epoch 1
  expect job j1 PENDING
  expect metric results_ignored_total{cause=not_dispatched} 1

story: H-51 Every ending is counted
  policy denies topic job.limited no
  worker w1 joins pool default
  submit job j1 topic job.limited
  submit job j2 topic job.default
  cancel j2
  expect metric jobs_completed_total{topic=job.limited,status=JOB_STATUS_DENIED} 1
  expect metric jobs_completed_total{topic=job.default,status=JOB_STATUS_CANCELLED} 1

story: H-52 A cancel is not lost in a failing store
  worker w1 joins pool default
  submit job j1 topic job.default
  the store fails the next read
  cancel j1
  advance 3s
  expect job j1 CANCELLED

story: H-25 Blanks around a topic do not get a job past policy when it is asked again
  policy limits topic job.limited max_concurrent_jobs 1
  worker w1 joins pool default capacity 10
  submit job j1 topic " job.limited" tenant acme
  submit job j2 topic " job.limited" tenant acme
  advance 1m
  expect job j1 RUNNING on w1
  expect job j2 PENDING waiting for tenant_limit

story: H-25 Blanks around a topic do not get a job past policy when it is submitted again
  submit job j1 topic " job.limited"
  expect job j1 PENDING waiting for no_workers
  policy denies topic job.limited "not any more"
  the submit of j1 is delivered again
  expect job j1 DENIED

story: H-07, a malformed message that names a job leaves its dead letter alone
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED code E1
  expect dead letter of j1 code E1
  garbage about j1 is published on sys.job.result
  advance 21s
  expect log "message terminated" 1 times
  expect dead letter of j1 code E1

story: H-07, a malformed message gives a job that runs no dead letter
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  garbage about j1 is published on sys.job.result
  advance 21s
  expect log "message terminated" 1 times
  expect no dead letter of j1

story: H-40, a result for a job that is not known any more leaves its dead letter alone
  garbage about gone is published on sys.job.result
  advance 21s
  expect dead letter of gone code poison_message
  worker w1 joins pool default capacity 4
  worker w1 answers gone SUCCEEDED without epoch
  expect dead letter of gone code poison_message
  expect metric unknown_job_results_total 1
