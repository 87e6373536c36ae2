# A dispatch whose publish ended unknown is made again, to the same worker while it lives. The worker
# may have the job: it keeps its slots, whatever stands in the way of the repeat.

given topic job.default -> pool default

story: A dispatch that its worker may have waits for no approval
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  policy wants approval for topic job.default
  advance 3s
  expect job j1 DISPATCHED on w1 epoch 1
  policy allows topic job.default
  submit job j2 topic job.default
  expect job j2 PENDING waiting for pool_overloaded
  advance 6s
  expect job j1 RUNNING on w1 epoch 2
  expect job j2 PENDING waiting for pool_overloaded

story: A dispatch that its worker may have does not wait while policy is away
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  policy is unavailable
  advance 3s
  expect job j1 DISPATCHED on w1 epoch 1
  policy is available
  advance 6s
  expect job j1 RUNNING on w1 epoch 2

story: A dispatch that its worker may have does not join the line when its tenant may have fewer
  policy limits topic job.default max_concurrent_jobs 2
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme
  the bus loses the answer of the next dispatch
  submit job j2 topic job.default tenant acme
  policy limits topic job.default max_concurrent_jobs 1
  submit job j3 topic job.default tenant acme
  advance 3s
  expect job j2 RUNNING on w1 epoch 2
  expect job j3 PENDING waiting for tenant_limit

story: A dispatch that its worker may have goes to no other when that worker takes fewer
  worker w1 joins pool default capacity 2
  worker w2 joins pool default capacity 2
  submit job j1 topic job.default labels preferred_worker_id=w1
  the bus loses the answer of the next dispatch
  submit job j2 topic job.default labels preferred_worker_id=w1
  worker w1 reports capacity 1
  advance 3s
  expect job j2 DISPATCHED on w1 epoch 1
  expect worker w2 got nothing
  worker w1 answers j1 SUCCEEDED
  advance 6s
  expect job j2 RUNNING on w1 epoch 2

story: A repeat that the bus refuses leaves the slot with the worker that may have the job
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  the bus refuses the next dispatch
  advance 3s
  expect job j1 DISPATCHED on w1 epoch 2
  expect metric dispatch_rollback_total{topic=job.default} 0
  submit job j2 topic job.default
  expect job j2 PENDING waiting for pool_overloaded
  advance 6s
  expect job j1 RUNNING on w1 epoch 3
  expect job j2 PENDING waiting for pool_overloaded

story: A dispatch whose worker lives and listens no more goes to another in the end
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  worker w2 joins pool default capacity 1
  the bus refuses the next 4 dispatches
  advance 10s
  expect job j1 DISPATCHED on w1
  expect worker w2 got nothing
  advance 20s
  expect job j1 RUNNING on w2 epoch 6
  expect metric dispatch_rollback_total{topic=job.default} 1
  worker w1 answers j1 SUCCEEDED
  expect job j1 SUCCEEDED
