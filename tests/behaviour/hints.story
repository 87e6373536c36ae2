# Hints and labels: preferred_pool is strict, preferred_worker_id is soft, only
# placement., constraint. and node. labels constrain.
given topic job.default -> pool default,gpu-batch
given topic job.cpu -> pool default
given pool default requires cpu
given pool gpu-batch requires gpu,cuda

story: A preferred pool narrows the choice to it
  worker w1 joins pool default capacity 10
  worker g1 joins pool gpu-batch capacity 10 active 5
  submit job j1 topic job.default labels preferred_pool=gpu-batch
  expect job j1 RUNNING on g1
  expect metric hint_used_total{hint=preferred_pool} 1

story: A preferred pool without workers is waited for
  worker w1 joins pool default capacity 10
  submit job j1 topic job.default labels preferred_pool=gpu-batch
  expect job j1 PENDING waiting for no_workers
  expect worker w1 got nothing
  worker g1 joins pool gpu-batch capacity 10
  expect job j1 RUNNING on g1

story: A preferred pool that is overloaded is not left
  worker w1 joins pool default capacity 10
  worker g1 joins pool gpu-batch capacity 10 gpu 95
  submit job j1 topic job.default labels preferred_pool=gpu-batch
  expect job j1 PENDING waiting for pool_overloaded
  expect worker w1 got nothing

story: A preferred pool that the topic does not map is counted
  submit job j1 topic job.cpu labels preferred_pool=gpu-batch
  expect job j1 FAILED code no_pool_mapping
  expect metric hint_rejected_total{hint=preferred_pool,cause=pool_not_mapped} 1

story: Requirements choose the pool
  worker w1 joins pool default capacity 10
  worker g1 joins pool gpu-batch capacity 10 active 5
  submit job j1 topic job.default requires GPU,cuda
  expect job j1 RUNNING on g1
  submit job j2 topic job.default requires cpu
  expect job j2 RUNNING on w1

story: A preferred worker is honoured although another is less loaded
  worker w1 joins pool default capacity 10
  worker w2 joins pool default capacity 10 active 5 cpu 50
  submit job j1 topic job.default labels preferred_worker_id=w2
  expect job j1 RUNNING on w2
  expect log "strategy pick preferred worker" 1 times about j1
  expect metric hint_used_total{hint=preferred_worker_id} 1

story: A preferred worker that is overloaded is passed over
  worker w1 joins pool default capacity 10 active 5
  worker w2 joins pool default capacity 10 cpu 95
  submit job j1 topic job.default labels preferred_worker_id=w2
  expect job j1 RUNNING on w1
  expect metric hint_rejected_total{hint=preferred_worker_id,cause=overloaded} 1
  expect worker w2 got nothing

story: A preferred worker in a pool that is not eligible is passed over
  worker w1 joins pool default capacity 10 active 5
  worker g1 joins pool gpu-batch capacity 10
  submit job j1 topic job.cpu labels preferred_worker_id=g1
  expect job j1 RUNNING on w1
  expect metric hint_rejected_total{hint=preferred_worker_id,cause=pool_ineligible} 1

story: A preferred worker whose labels do not match is passed over
  worker w1 joins pool default capacity 10 active 5 labels node.zone=eu
  worker w2 joins pool default capacity 10 labels node.zone=us
  submit job j1 topic job.default labels preferred_worker_id=w2,node.zone=eu
  expect job j1 RUNNING on w1
  expect metric hint_rejected_total{hint=preferred_worker_id,cause=label_mismatch} 1

story: A preferred worker that nobody knows is passed over
  worker w1 joins pool default capacity 10 active 5
  submit job j1 topic job.default labels preferred_worker_id=w9
  expect job j1 RUNNING on w1
  expect metric hint_rejected_total{hint=preferred_worker_id,cause=not_found} 1

story: A preferred pool outweighs a preferred worker
  worker w1 joins pool default capacity 10
  worker g1 joins pool gpu-batch capacity 10
  submit job j1 topic job.default labels preferred_pool=gpu-batch,preferred_worker_id=w1
  expect job j1 RUNNING on g1
  expect metric hint_rejected_total{hint=preferred_worker_id,cause=pool_ineligible} 1

story: Placement labels constrain
  worker w1 joins pool default capacity 10 labels placement.rack=r1,constraint.disk=hdd,node.zone=us
  worker w2 joins pool default capacity 10 active 5 labels placement.rack=r2,constraint.disk=ssd,node.zone=eu
  submit job j1 topic job.default labels placement.rack=r2
  expect job j1 RUNNING on w2
  submit job j2 topic job.default labels constraint.disk=ssd
  expect job j2 RUNNING on w2
  submit job j3 topic job.default labels node.zone=eu
  expect job j3 RUNNING on w2
  submit job j4 topic job.default labels node.zone=us
  expect job j4 RUNNING on w1

story: Placement labels that no worker carries are waited for
  worker w1 joins pool default capacity 10 labels node.zone=us
  submit job j1 topic job.default labels node.zone=eu
  expect job j1 PENDING waiting for no_workers saying node.zone=eu
  worker w2 joins pool default capacity 10 labels node.zone=eu
  expect job j1 RUNNING on w2

story: A worker without labels fails every placement label
  worker w1 joins pool default capacity 10
  submit job j1 topic job.default labels node.zone=eu
  expect job j1 PENDING waiting for no_workers

story: All placement labels must match
  worker w1 joins pool default capacity 10 labels node.zone=eu
  submit job j1 topic job.default labels node.zone=eu,node.disk=ssd
  expect job j1 PENDING waiting for no_workers

story: Business labels never constrain
  worker w1 joins pool default capacity 10 labels team=red,node_id=n9
  submit job j1 topic job.default labels team=blue,amount=10,node_id=n1,workflow_id=wf-1
  expect job j1 RUNNING on w1

story: A preferred worker that is stale is passed over as stale
  advance 100ms
  worker w1 joins pool default capacity 10
  worker w1 goes silent
  worker w2 joins pool default capacity 10
  advance 30100ms
  submit job j1 topic job.default labels preferred_worker_id=w1
  expect job j1 RUNNING on w2
  expect metric hint_rejected_total{hint=preferred_worker_id,cause=stale} 1
  expect metric hint_rejected_total 1

story: A hint counts once for each dispatch however often it was looked at
  given topic job.one -> pool one
  worker w1 joins pool one capacity 1
  submit job j1 topic job.one labels preferred_pool=one
  submit job j2 topic job.one labels preferred_pool=one
  submit job j3 topic job.one labels preferred_pool=one
  advance 1m
  expect metric hint_used_total{hint=preferred_pool} 1
  worker w1 answers j1 SUCCEEDED
  expect metric hint_used_total{hint=preferred_pool} 2
