# The least loaded worker: score = active_jobs + cpu_load/100 + gpu_utilization/100, and who is
# overloaded.
given topic job.default -> pool default

story: The worker with the fewest jobs is picked
  worker w1 joins pool default capacity 10 active 2
  worker w2 joins pool default capacity 10 active 1
  submit job j1 topic job.default
  expect job j1 RUNNING on w2

story: Of equally many jobs the lower processor load decides
  worker w1 joins pool default capacity 10 active 1 cpu 60
  worker w2 joins pool default capacity 10 active 1 cpu 50
  submit job j1 topic job.default
  expect job j1 RUNNING on w2

story: Processor and graphics load add up
  worker w1 joins pool default capacity 10 cpu 50 gpu 30
  worker w2 joins pool default capacity 10 cpu 10 gpu 60
  submit job j1 topic job.default
  expect job j1 RUNNING on w2

story: A whole job weighs more than a busy processor
  worker w1 joins pool default capacity 10 active 1
  worker w2 joins pool default capacity 10 cpu 80
  submit job j1 topic job.default
  expect job j1 RUNNING on w2

story: Nine of ten jobs are too many and eight are not
  worker w1 joins pool default capacity 10 active 9
  submit job j1 topic job.default
  expect job j1 PENDING waiting for pool_overloaded
  worker w1 reports active 8
  expect job j1 RUNNING on w1

story: A processor at ninety percent is too busy and at eighty nine is not
  worker w1 joins pool default capacity 10 cpu 90
  submit job j1 topic job.default
  expect job j1 PENDING waiting for pool_overloaded
  worker w1 reports cpu 89
  expect job j1 RUNNING on w1

story: Graphics at ninety percent is too busy and at eighty nine is not
  worker w1 joins pool default capacity 10 gpu 90
  submit job j1 topic job.default
  expect job j1 PENDING waiting for pool_overloaded
  worker w1 reports gpu 89
  expect job j1 RUNNING on w1

story: An idle worker of capacity one takes one job
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.default
  expect job j1 RUNNING on w1
  expect job j2 PENDING waiting for pool_overloaded

story: A worker without a capacity takes all it is given
  worker w1 joins pool default
  submit job j1 topic job.default
  submit job j2 topic job.default
  submit job j3 topic job.default
  expect job j3 RUNNING on w1

story: Jobs between two heartbeats do not herd onto one worker
  worker w1 joins pool default capacity 10
  worker w2 joins pool default capacity 10 cpu 50
  submit job j1 topic job.default
  submit job j2 topic job.default
  submit job j3 topic job.default
  expect job j1 RUNNING on w1
  expect job j2 RUNNING on w2
  expect job j3 RUNNING on w1

story: Between equals the one with more room is picked and then the first by name
  worker w1 joins pool default capacity 4
  worker w3 joins pool default capacity 8
  worker w2 joins pool default capacity 8
  submit job j1 topic job.default
  expect job j1 RUNNING on w2

story: A worker of another pool is never picked
  given topic job.other -> pool other
  worker w1 joins pool default capacity 10 active 5
  worker o1 joins pool other capacity 10
  submit job j1 topic job.default
  expect job j1 RUNNING on w1
  expect worker o1 got nothing

story: A worker that restarted under its name no longer counts its lost jobs after three heartbeats
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  advance 6s
  worker w1 restarts
  submit job j2 topic job.default
  expect job j2 PENDING waiting for pool_overloaded
  advance 9s
  expect job j2 PENDING
  advance 2s
  expect job j2 RUNNING on w1
  expect job j1 RUNNING on w1

story: A worker that never reported a job is not believed to have lost one
  worker w1 joins pool default capacity 1 counting no jobs
  submit job j1 topic job.default
  advance 1m
  submit job j2 topic job.default
  advance 1m
  expect job j2 PENDING waiting for pool_overloaded
  worker w1 answers j1 SUCCEEDED
  expect job j2 RUNNING on w1
