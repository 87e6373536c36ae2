# DISPATCHED is committed before the publish; a refused publish rolls back to SCHEDULED.
given topic job.default -> pool default

story: A refused publish rolls back to SCHEDULED
  worker w1 joins pool default capacity 4
  the bus refuses the next dispatch
  submit job j1 topic job.default
  expect submit of j1 is stored
  expect job j1 SCHEDULED attempts 2 waiting for publish_failed deliveries 0
  expect history of j1 is PENDING SCHEDULED DISPATCHED(w1) SCHEDULED
  expect metric dispatch_rollback_total{topic=job.default} 1
  expect metric dispatch_retry_total{topic=job.default,phase=publish} 1
  expect worker w1 got nothing
  expect no dead letter of j1

story: Two refused publishes make four attempts
  worker w1 joins pool default capacity 4
  the bus refuses the next 2 dispatches
  submit job j1 topic job.default
  expect job j1 SCHEDULED attempts 2
  advance 5s
  expect job j1 SCHEDULED attempts 4
  expect metric dispatch_rollback_total{topic=job.default} 2
  advance 30s
  expect job j1 RUNNING on w1 attempts 5 epoch 3 deliveries 1
  expect worker w1 got job j1 epoch 3 1 times
  expect 3 publishes on worker.w1.jobs
  expect 1 messages on worker.w1.jobs

story: Refused publishes do not use up the retries that policy allows
  policy limits topic job.default max_retries 1
  worker w1 joins pool default capacity 4
  the bus refuses the next 3 dispatches
  submit job j1 topic job.default
  advance 2m
  expect job j1 RUNNING on w1 deliveries 1

story: Publishes that are refused for ever end after fifty attempts
  worker w1 joins pool default capacity 4
  the bus refuses the next 25 dispatches
  submit job j1 topic job.default
  advance 20m
  expect job j1 FAILED code dispatch_failed saying attempts=
  expect dead letter of j1 code dispatch_failed
  expect metric dispatch_rollback_total{topic=job.default} 25
  expect worker w1 got nothing

story: A rolled back job holds no slot
  policy limits topic job.default max_concurrent_jobs 1
  worker w1 joins pool default capacity 1
  the bus refuses the next dispatch
  submit job j1 topic job.default tenant acme
  expect job j1 SCHEDULED
  submit job j2 topic job.default tenant acme
  expect job j2 RUNNING on w1

story: When the DISPATCHED write fails nothing is published and the replay publishes once
  worker w1 joins pool default capacity 4
  the store fails the next write of DISPATCHED
  submit job j1 topic job.default
  expect submit of j1 is stored
  expect 0 publishes on worker.w1.jobs
  expect metric dispatch_retry_total{topic=job.default,phase=dispatched_write} 1
  advance 1s
  expect job j1 RUNNING on w1 epoch 1 attempts 1
  advance 1m
  expect 1 publishes on worker.w1.jobs
  expect worker w1 got job j1 epoch 1 1 times

story: When the answer of the DISPATCHED write is lost its epoch is never published twice
  worker w1 joins pool default capacity 4
  the store loses the answer of the next write of DISPATCHED
  submit job j1 topic job.default
  expect job j1 DISPATCHED epoch 1
  expect 0 publishes on worker.w1.jobs
  advance 3s
  expect job j1 RUNNING on w1 epoch 2
  expect 1 publishes on worker.w1.jobs

story: When the RUNNING write fails the job is not published again
  worker w1 joins pool default capacity 4
  the store fails the next write of RUNNING
  submit job j1 topic job.default
  expect job j1 DISPATCHED on w1 epoch 1
  expect worker w1 got job j1 epoch 1
  the submit of j1 is delivered again
  advance 1s
  expect job j1 RUNNING on w1 epoch 1
  advance 1m
  expect 1 publishes on worker.w1.jobs

story: When the rollback write fails the job is out again within seconds
  worker w1 joins pool default capacity 4
  the bus refuses the next dispatch
  the store fails the next write of SCHEDULED
  submit job j1 topic job.default
  expect job j1 DISPATCHED on w1 epoch 1
  expect log "dispatch rollback failed" 1 times about j1
  expect metric dispatch_rollback_failures_total{topic=job.default} 1
  expect metric dispatch_retry_total{topic=job.default,phase=rollback_write} 1
  expect metric dispatch_rollback_total{topic=job.default} 0
  advance 3s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w1 got job j1 1 times

story: A publish whose answer is lost goes to the same worker under a new epoch
  worker w1 joins pool default capacity 4 active 2
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  expect job j1 DISPATCHED on w1 epoch 1
  worker w2 joins pool default capacity 4
  advance 3s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w1 got job j1 2 times
  expect worker w2 got nothing
  expect metric dispatch_retry_total{topic=job.default,phase=publish} 1

story: The result of an epoch whose publish ended unknown still counts
  worker w1 joins pool default capacity 4
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  advance 3s
  expect job j1 RUNNING on w1 epoch 2
  worker w1 answers j1 SUCCEEDED epoch 1 result redis://res:first
  expect job j1 SUCCEEDED result redis://res:first

story: A dispatch that was lost on the way is made again
  worker w1 joins pool default capacity 4
  the bus loses the next dispatch
  submit job j1 topic job.default
  expect job j1 DISPATCHED epoch 1
  expect worker w1 got nothing
  advance 3s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w1 got job j1 epoch 2 1 times

story: A dispatch that was lost with its worker goes to another
  worker w1 joins pool default capacity 4
  worker w2 joins pool default capacity 4 active 2
  the bus loses the next dispatch
  submit job j1 topic job.default
  expect job j1 DISPATCHED on w1
  worker w1 leaves
  advance 45s
  expect job j1 RUNNING on w2

story: A result that comes before RUNNING is written ends the job
  worker w1 joins pool default capacity 4
  the store fails the next write of RUNNING
  submit job j1 topic job.default
  expect job j1 DISPATCHED
  worker w1 answers j1 SUCCEEDED result redis://res:j1
  expect job j1 SUCCEEDED
  advance 10s
  expect job j1 SUCCEEDED result redis://res:j1

story: A publish whose answer is lost is repeated to its worker though others wait
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  submit job j2 topic job.default
  advance 5s
  expect job j1 RUNNING on w1 epoch 2
  expect job j2 PENDING waiting for pool_overloaded
  expect worker w1 did not get job j2
  worker w1 answers j1 SUCCEEDED
  expect job j2 RUNNING on w1

story: A publish whose answer is lost is repeated though others of the tenant wait
  policy limits topic job.default max_concurrent_jobs 1
  worker w1 joins pool default capacity 4
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default tenant acme
  submit job j2 topic job.default tenant acme
  advance 5s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w1 did not get job j2

story: A publish whose answer is lost is repeated to its worker after policy was not there
  worker w1 joins pool default capacity 4 active 2
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  policy is unavailable
  worker w2 joins pool default capacity 4
  advance 4s
  expect job j1 DISPATCHED on w1 epoch 1
  policy is available
  advance 10s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w2 got nothing

story: A job whose worker cannot be reached goes to another at once
  worker w1 joins pool default capacity 4
  worker w2 joins pool default capacity 4 active 2
  the bus refuses the next dispatch
  submit job j1 topic job.default
  expect job j1 RUNNING on w2 epoch 2 attempts 3 deliveries 1
  expect history of j1 is PENDING SCHEDULED DISPATCHED(w1) SCHEDULED DISPATCHED(w2) RUNNING
  expect metric dispatch_rollback_total{topic=job.default} 1
  expect worker w1 got nothing

story: A worker that could not be given a job is left alone until it is heard again
  worker w1 joins pool default capacity 4
  worker w2 joins pool default capacity 4 active 2
  the bus refuses the next dispatch
  submit job j1 topic job.default
  expect job j1 RUNNING on w2
  submit job j2 topic job.default
  expect job j2 RUNNING on w2
  worker w1 reports
  submit job j3 topic job.default
  expect job j3 RUNNING on w1

story: Jobs rather wait for a busy worker than go to one that could not be given a job
  worker w1 joins pool default capacity 4
  worker w2 joins pool default capacity 1 active 1
  the bus refuses the next dispatch
  submit job j1 topic job.default
  expect job j1 SCHEDULED on w1
  submit job j2 topic job.default
  expect job j2 PENDING waiting for pool_overloaded
  worker w1 reports
  expect job j2 RUNNING on w1

story: The first pause after a refused dispatch is two seconds
  worker w1 joins pool default capacity 4
  the bus refuses the next dispatch
  submit job j1 topic job.default
  advance 1900ms
  expect job j1 SCHEDULED attempts 2
  advance 900ms
  expect job j1 RUNNING on w1

story: A dispatch that the bus will never take ends its job and frees its worker
  worker w1 joins pool default capacity 1
  the bus finds the next dispatch too large
  submit job j1 topic job.default
  expect job j1 FAILED code dispatch_failed saying "too large"
  expect dead letter of j1 code dispatch_failed last state DISPATCHED
  submit job j2 topic job.default
  expect job j2 RUNNING on w1

story: A dispatch that the bus will never take is ended when the store is back
  worker w1 joins pool default capacity 1
  the bus finds the next dispatch too large
  the store fails the next write of FAILED
  submit job j1 topic job.default
  expect job j1 DISPATCHED on w1
  the bus finds the next dispatch too large
  advance 4s
  expect job j1 FAILED code dispatch_failed

story: A published dispatch is not made again while the store is away
  worker w1 joins pool default capacity 4
  the store fails the next 20 writes of RUNNING
  submit job j1 topic job.default
  advance 19s
  expect job j1 DISPATCHED on w1 epoch 1
  advance 3s
  expect job j1 RUNNING on w1 epoch 1
  expect worker w1 got job j1 1 times
