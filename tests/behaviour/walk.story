# The walk of a job: submit, policy, placement, dispatch, result
# (docs/architecture.md).
given topic job.default -> pool default

story: A job finds a worker and succeeds
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect submit of j1 is stored
  expect job j1 RUNNING on w1 epoch 1 attempts 1 deliveries 1
  expect worker w1 got job j1 epoch 1 1 times
  worker w1 answers j1 SUCCEEDED result redis://res:j1
  expect job j1 SUCCEEDED result redis://res:j1 attempts 1
  expect history of j1 is PENDING(submitted) SCHEDULED DISPATCHED(w1) RUNNING SUCCEEDED
  expect no dead letter of j1
  expect metric jobs_received_total{topic=job.default} 1
  expect metric jobs_dispatched_total{topic=job.default} 1
  expect metric jobs_completed_total{topic=job.default,status=JOB_STATUS_SUCCEEDED} 1

story: The worker gets the request as it was submitted
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme labels team=blue,amount=10 env HOME=/tmp trace t1
  expect worker w1 got job j1 labels team=blue,amount=10 env HOME=/tmp trace t1

story: A topic may map to several pools
  given topic job.any -> pool default,spare
  worker s1 joins pool spare capacity 4
  submit job j1 topic job.any
  expect job j1 RUNNING on s1

story: A job runs on through a restart of the scheduler
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  the scheduler restarts
  expect job j1 RUNNING on w1 epoch 1
  advance 1m
  expect worker w1 got job j1 1 times
  worker w1 answers j1 SUCCEEDED
  expect job j1 SUCCEEDED

story: What is out with a worker counts against it after a restart
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  the scheduler restarts
  submit job j2 topic job.default
  expect job j2 PENDING waiting for pool_overloaded
  worker w1 answers j1 SUCCEEDED
  expect job j2 RUNNING on w1

story: The trace stays with a job through waits and restarts
  submit job j1 topic job.default trace t-7
  expect job j1 PENDING waiting for no_workers trace t-7
  advance 20s
  the scheduler restarts
  advance 20s
  expect job j1 PENDING trace t-7
  the bus refuses the next dispatch
  worker w1 joins pool default capacity 1
  expect job j1 SCHEDULED trace t-7
  the scheduler restarts
  advance 40s
  expect job j1 RUNNING on w1 trace t-7
  expect worker w1 got job j1 trace t-7

story: A submit without a trace is malformed and makes no job
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default trace ""
  expect no job j1
  advance 21s
  expect log "message terminated" 1 times
  expect dead letter of j1 code poison_message saying "trace_id is missing"
  expect message on sys.job.dlq for j1 code poison_message
  expect no job j1
  expect worker w1 got nothing
