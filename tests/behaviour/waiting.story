# Waiting is not failing: a job is woken by what it waits for.
given topic job.default -> pool default

story: A worker that comes online wakes the job that waits for it
  submit job j1 topic job.default
  expect job j1 PENDING waiting for no_workers attempts 1
  worker w1 joins pool default capacity 4
  expect job j1 RUNNING on w1 attempts 2
  expect metric dispatch_flush_on_worker_online_total{pool=default} 1
  expect history of j1 is PENDING(submitted) PENDING(no_workers) SCHEDULED DISPATCHED(w1) RUNNING

story: A worker of another pool wakes nobody
  submit job j1 topic job.default
  worker o1 joins pool other capacity 4
  expect job j1 PENDING waiting for no_workers attempts 1
  expect worker o1 got nothing
  expect metric dispatch_flush_on_worker_online_total 0

story: A freed slot wakes the next job at once
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.default
  expect job j2 PENDING waiting for pool_overloaded
  worker w1 answers j1 SUCCEEDED
  expect job j2 RUNNING on w1 epoch 1

story: A worker that is less busy wakes the job that waits for it
  worker w1 joins pool default capacity 4 cpu 95
  submit job j1 topic job.default
  expect job j1 PENDING waiting for pool_overloaded
  worker w1 reports cpu 20
  expect job j1 RUNNING on w1

story: Jobs that wait for the same start in the order in which they came
  worker w1 joins pool default capacity 1
  submit job first topic job.default
  submit job zebra topic job.default
  advance 1ms
  submit job monkey topic job.default
  advance 1ms
  submit job ape topic job.default
  worker w1 answers first SUCCEEDED
  expect job zebra RUNNING on w1
  expect job monkey PENDING
  expect job ape PENDING
  worker w1 answers zebra SUCCEEDED
  expect job monkey RUNNING on w1
  expect job ape PENDING
  worker w1 answers monkey SUCCEEDED
  expect job ape RUNNING on w1

story: A worker is offered no more jobs than it has room for
  submit job j1 topic job.default
  submit job j2 topic job.default
  submit job j3 topic job.default
  worker w1 joins pool default capacity 2
  expect job j1 RUNNING on w1
  expect job j2 RUNNING on w1
  expect job j3 PENDING
  worker w1 answers j2 SUCCEEDED
  expect job j3 RUNNING on w1

story: A job of another class does not queue behind those who wait
  worker w1 joins pool default capacity 4 labels node.zone=us
  submit job j1 topic job.default labels node.zone=eu
  expect job j1 PENDING waiting for no_workers
  submit job j2 topic job.default labels node.zone=us
  expect job j2 RUNNING on w1

story: A tenant's next job starts when one of its jobs ends
  policy limits topic job.default max_concurrent_jobs 2
  worker w1 joins pool default capacity 10
  submit job a1 topic job.default tenant acme
  submit job a2 topic job.default tenant acme
  submit job a3 topic job.default tenant acme
  submit job b1 topic job.default tenant bolt
  expect job a1 RUNNING
  expect job a2 RUNNING
  expect job a3 PENDING waiting for tenant_limit
  expect job b1 RUNNING
  worker w1 answers b1 SUCCEEDED
  expect job a3 PENDING waiting for tenant_limit
  worker w1 answers a1 FAILED
  expect job a3 RUNNING on w1

story: A limit of one does not block the job itself
  policy limits topic job.default max_concurrent_jobs 1
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme
  expect job j1 RUNNING on w1
  expect worker w1 got job j1 env CORDUM_MAX_CONCURRENT_JOBS=1

story: Jobs that only wait do not count against their tenant
  policy limits topic job.default max_concurrent_jobs 1
  submit job j1 topic job.default tenant acme
  submit job j2 topic job.default tenant acme
  expect job j1 PENDING waiting for no_workers
  worker w1 joins pool default capacity 4
  expect job j1 RUNNING on w1
  expect job j2 PENDING waiting for tenant_limit
  worker w1 answers j1 SUCCEEDED
  expect job j2 RUNNING on w1

story: A tenant without a name shares the tenant called default
  policy limits topic job.default max_concurrent_jobs 1
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  submit job j2 topic job.default tenant default
  submit job j3 topic job.default env tenant_id=acme
  expect job j1 RUNNING
  expect job j2 PENDING waiting for tenant_limit
  expect job j3 RUNNING

story: The clock is the fallback and goes by the schedule
  submit job j1 topic job.default
  advance 1s
  expect job j1 PENDING attempts 2
  advance 2s
  expect job j1 PENDING attempts 3
  advance 4s
  expect job j1 PENDING attempts 4
  advance 30m
  expect job j1 FAILED attempts 50

story: In a pool that is busy the schedule of attempts starts again with every dispatch
  given timeouts running 2h
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.default
  advance 1ms
  submit job j3 topic job.default
  advance 20m
  worker w1 answers j1 SUCCEEDED
  expect job j2 RUNNING on w1
  advance 20m
  expect job j3 PENDING waiting for pool_overloaded
  worker w1 answers j2 SUCCEEDED
  expect job j3 RUNNING on w1

story: When the first that waits is given up the others are too
  submit job j1 topic job.default
  advance 1ms
  submit job j2 topic job.default
  advance 25m
  expect job j1 FAILED code no_workers
  expect job j2 FAILED code no_workers
  expect dead letter of j2 code no_workers saying attempts=50

story: Freed slots go to whoever fits the worker
  given topic job.any -> pool default,spare
  worker w1 joins pool default capacity 1
  worker s1 joins pool spare capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.any
  expect job j2 RUNNING on s1
  submit job j3 topic job.default
  advance 1ms
  submit job j4 topic job.any
  worker s1 answers j2 SUCCEEDED
  expect job j4 RUNNING on s1
  expect job j3 PENDING
  worker w1 answers j1 SUCCEEDED
  expect job j3 RUNNING on w1

story: A job that waits is judged again before it is dispatched
  submit job j1 topic job.default
  expect job j1 PENDING waiting for no_workers
  policy denies topic job.default "not any more"
  worker w1 joins pool default capacity 4
  expect job j1 DENIED code safety_denied
  expect worker w1 got nothing

story: Pools that change are used for the next placement
  submit job j1 topic job.default
  expect job j1 PENDING waiting for no_workers
  worker s1 joins pool spare capacity 4
  given topic job.default -> pool spare
  advance 5s
  expect job j1 RUNNING on s1

story: All whose time is over are given up together
  submit 300 jobs j topic job.default
  advance 22m
  expect job j1 PENDING
  advance 1m
  expect job j1 FAILED code no_workers
  expect job j300 FAILED code no_workers

# The fiftieth attempt falls due 1351 seconds after the first.
story: A job whose last attempt is due is placed rather than given up when a worker has come
  submit job j1 topic job.default
  advance 1351s
  expect job j1 PENDING attempts 50
  worker w1 joins pool default capacity 4
  expect job j1 RUNNING on w1

story: The longest waiting stays first when the reason for its wait changes
  submit job first topic job.default
  advance 1ms
  submit job second topic job.default
  advance 1ms
  submit job third topic job.default
  advance 100ms
  worker w1 joins pool default capacity 1 cpu 95
  advance 20s
  expect job first PENDING waiting for pool_overloaded
  expect job second PENDING waiting for no_workers
  worker w1 reports cpu 5
  expect job first RUNNING on w1
  expect job second PENDING
  worker w1 answers first SUCCEEDED
  expect job second RUNNING on w1

story: Another reason for the wait is no attempt and does not begin the schedule again
  submit job j1 topic job.default
  advance 8s
  expect job j1 PENDING waiting for no_workers attempts 4
  worker w1 joins pool default capacity 1 cpu 95
  advance 17s
  expect job j1 PENDING waiting for pool_overloaded attempts 5

story: Jobs that wait for their tenant and for a worker are not sent to and fro
  given topic job.limited -> pool default
  policy limits topic job.limited max_concurrent_jobs 1
  worker w1 joins pool default capacity 10
  submit job j1 topic job.limited tenant acme
  expect job j1 RUNNING on w1
  worker w1 reports cpu 95
  submit job j2 topic job.limited tenant acme
  submit job j3 topic job.limited tenant acme
  submit job j4 topic job.limited tenant acme
  expect job j2 PENDING waiting for pool_overloaded attempts 1
  worker w1 reports cpu 5
  expect job j2 PENDING waiting for tenant_limit attempts 1
  expect job j3 PENDING waiting for tenant_limit attempts 1
  expect job j4 PENDING waiting for tenant_limit attempts 1
  worker w1 answers j1 SUCCEEDED
  expect job j2 RUNNING on w1
  worker w1 answers j2 SUCCEEDED
  expect job j3 RUNNING on w1
  worker w1 answers j3 SUCCEEDED
  expect job j4 RUNNING on w1

story: A job that waits for its tenant leaves the room of a worker to the next at once
  given topic job.limited -> pool default
  policy limits topic job.limited max_concurrent_jobs 1
  worker w1 joins pool default capacity 2
  worker w2 joins pool default capacity 1
  submit job l1 topic job.limited tenant acme
  submit job p1 topic job.default
  submit job p2 topic job.default
  submit job l2 topic job.limited tenant acme
  submit job p3 topic job.default
  expect job l2 PENDING waiting for pool_overloaded
  expect job p3 PENDING waiting for pool_overloaded
  worker w2 answers p1 SUCCEEDED
  expect job l2 PENDING waiting for tenant_limit
  expect job p3 RUNNING on w2

story: A clock that is set forward makes no attempts
  submit job j1 topic job.default
  advance 10s
  the clock is set forward by 2h
  advance 10m
  expect job j1 PENDING waiting for no_workers
  worker w1 joins pool default capacity 4
  expect job j1 RUNNING on w1

story: A submit that is delivered again does not give up a job that waits in a busy class
  given timeouts running 2h
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.default
  advance 1ms
  submit job j3 topic job.default
  advance 20m
  worker w1 answers j1 SUCCEEDED
  expect job j2 RUNNING on w1
  advance 10m
  the submit of j3 is delivered again
  expect job j3 PENDING waiting for pool_overloaded

story: More classes than are listed at once hide nobody
  given topic job.limited -> pool default
  policy limits topic job.limited max_concurrent_jobs 1
  worker w1 joins pool default capacity 10
  submit 1001 jobs j topic job.default labels node.rack=#
  submit job t1 topic job.limited tenant acme
  submit job t2 topic job.limited tenant acme
  advance 2s
  expect job t2 PENDING waiting for tenant_limit
  worker w1 answers t1 SUCCEEDED
  expect job t2 RUNNING on w1

story: More classes than are listed at once are all known after a restart
  given topic job.limited -> pool default
  policy limits topic job.limited max_concurrent_jobs 1
  worker w1 joins pool default capacity 10
  submit 1001 jobs j topic job.default labels node.rack=#
  submit job t1 topic job.limited tenant acme
  submit job t2 topic job.limited tenant acme
  the scheduler crashes
  the scheduler restarts
  worker w1 answers t1 SUCCEEDED
  expect job t2 RUNNING on w1

story: All who wait follow their topic to its new pool
  submit 100 jobs j topic job.default
  worker w2 joins pool other capacity 200
  expect job j100 PENDING waiting for no_workers
  given topic job.default -> pool other
  advance 1s
  expect job j1 RUNNING on w2
  expect job j50 RUNNING on w2
  expect job j100 RUNNING on w2

story: Who waits follows its topic although the store fails meanwhile
  submit 3 jobs j topic job.default
  worker w2 joins pool other capacity 200
  the store fails the next 3 reads
  given topic job.default -> pool other
  advance 2s
  expect job j1 RUNNING on w2
  expect job j2 RUNNING on w2
  expect job j3 RUNNING on w2

story: Who waits follows its topic although others of its class stay
  given topic job.stays -> pool default
  submit job s1 topic job.stays
  submit 3 jobs j topic job.default
  worker w2 joins pool other capacity 200
  given topic job.default -> pool other
  advance 1s
  expect job s1 PENDING waiting for no_workers
  expect job j1 RUNNING on w2
  expect job j3 RUNNING on w2

story: Who waits for a topic that leads nowhere any more fails
  given topic job.gone -> pool default
  given topic job.stays -> pool default
  submit job g1 topic job.gone
  submit job s1 topic job.stays
  given pool default status draining
  advance 1s
  expect job g1 FAILED code no_pool_mapping
  expect job s1 FAILED code no_pool_mapping

story: A submit that is delivered again does not overtake those who wait longer
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default
  submit job j2 topic job.default
  submit job j3 topic job.default
  the submit of j3 is delivered again
  worker w1 reports capacity 2
  expect job j2 RUNNING on w1
  the submit of j3 is delivered again
  expect job j3 PENDING waiting for pool_overloaded
