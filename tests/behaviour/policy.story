# Policy is asked before every dispatch: what it may say, and what happens without it.
given topic job.default -> pool default

story: Without policy a job waits and no attempt is counted
  policy is unavailable
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect submit of j1 is stored
  expect job j1 PENDING waiting for safety_unavailable attempts 0
  expect metric safety_unavailable_total{topic=job.default} 1
  advance 6s
  expect job j1 PENDING waiting for safety_unavailable attempts 0
  expect metric safety_unavailable_total{topic=job.default} 2
  advance 10m
  expect job j1 PENDING waiting for safety_unavailable attempts 0
  policy is available
  advance 6s
  expect job j1 RUNNING on w1 attempts 1
  expect no dead letter of j1

story: Without policy only the first of those who wait asks again
  policy is unavailable
  worker w1 joins pool default capacity 200
  submit 100 jobs j topic job.default
  expect metric safety_unavailable_total{topic=job.default} 100
  advance 21s
  expect metric safety_unavailable_total{topic=job.default} 104
  policy is available
  advance 6s
  expect job j1 RUNNING on w1 attempts 1
  expect job j100 RUNNING on w1 attempts 1

story: A job that policy cannot be asked about does not stand in the way of others
  given topic job.poison -> pool default
  worker w1 joins pool default capacity 200
  policy cannot be asked about topic job.poison
  submit job p topic job.poison
  policy is unavailable
  submit 3 jobs j topic job.default
  policy is available
  advance 11s
  expect job j1 RUNNING on w1
  expect job j2 RUNNING on w1
  expect job j3 RUNNING on w1
  expect job p PENDING waiting for safety_unavailable attempts 0

story: Without policy a job is let through where the operator said so
  given policy fails open
  policy is unavailable
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect job j1 RUNNING on w1
  expect metric input_fail_open_total{topic=job.default} 1
  expect log "input policy fail-open: safety kernel unreachable" 1 times

story: A throttled job waits five seconds and no attempt is counted
  policy throttles topic job.default
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect job j1 PENDING waiting for safety_throttled attempts 0
  policy allows topic job.default
  advance 4s
  expect job j1 PENDING
  advance 2s
  expect job j1 RUNNING on w1 attempts 1

story: A job that needs approval waits for it and is not published
  policy wants approval for topic job.default
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect job j1 APPROVAL_REQUIRED
  advance 10m
  expect job j1 APPROVAL_REQUIRED
  expect worker w1 got nothing
  expect no dead letter of j1

story: A job that needs approval holds no slot
  policy wants approval for topic job.default
  policy limits topic job.other max_concurrent_jobs 1
  given topic job.other -> pool default
  worker w1 joins pool default capacity 1
  submit job j1 topic job.default tenant acme
  submit job j2 topic job.other tenant acme
  expect job j1 APPROVAL_REQUIRED
  expect job j2 RUNNING on w1

story: A retry is judged again
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  policy denies topic job.default "once was enough"
  advance 3s
  expect job j1 DENIED code safety_denied saying "once was enough"
  expect worker w1 got job j1 1 times

story: A rolled back job is judged again
  worker w1 joins pool default capacity 4
  the bus refuses the next dispatch
  submit job j1 topic job.default
  policy denies topic job.default "changed my mind"
  advance 5s
  expect job j1 DENIED code safety_denied
  expect worker w1 got nothing

story: A submit is acknowledged before a slow policy has answered
  given policy answers after 2s
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect submit of j1 is stored
  expect job j1 PENDING
  advance 1s
  expect job j1 PENDING
  advance 1s
  expect job j1 RUNNING on w1 epoch 1 attempts 1
  expect history of j1 is PENDING(submitted) SCHEDULED DISPATCHED RUNNING

story: A slow policy that denies is obeyed
  given policy answers after 2s
  policy denies topic job.default "too risky"
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  advance 2s
  expect job j1 DENIED saying "too risky"
  expect worker w1 got nothing

story: A policy slower than the sweep is not asked twice at once
  given policy answers after 20s
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  advance 1m
  expect job j1 RUNNING on w1 epoch 1
  expect worker w1 got job j1 1 times

story: The worker is told the limits of the policy
  policy limits topic job.default max_retries 3 max_concurrent_jobs 7 max_runtime 30s
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect worker w1 got job j1 env CORDUM_MAX_RETRIES=3,CORDUM_MAX_CONCURRENT_JOBS=7 deadline 30s

story: A dispatch whose worker is gone leaves its room to others while it waits for policy
  given topic job.limited -> pool default
  given topic job.other -> pool default
  policy limits topic job.limited max_concurrent_jobs 1
  policy limits topic job.other max_concurrent_jobs 1
  worker w1 joins pool default capacity 4
  the bus loses the answer of the next dispatch
  submit job j1 topic job.limited tenant acme
  worker w1 leaves
  worker w2 joins pool default capacity 4
  policy throttles topic job.limited
  advance 20s
  submit job j2 topic job.other tenant acme
  advance 10s
  expect job j2 PENDING waiting for tenant_limit
  advance 3s
  expect job j1 SCHEDULED waiting for safety_throttled
  expect job j2 RUNNING on w2

story: A dispatch that may have arrived keeps its worker while policy cannot be asked
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  policy is unavailable
  advance 13s
  expect job j1 DISPATCHED on w1 epoch 1 attempts 1 deliveries 1
  expect metric safety_unavailable_total{topic=job.default} 3
  policy is available
  advance 5s
  expect job j1 RUNNING on w1 epoch 2

story: A dispatch that may have arrived keeps its worker while policy throttles it
  given topic job.other -> pool default
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  policy throttles topic job.default
  submit job j2 topic job.other
  advance 1m
  expect job j1 DISPATCHED on w1 epoch 1
  expect job j2 PENDING waiting for pool_overloaded
  worker w1 answers j1 SUCCEEDED
  expect job j1 SUCCEEDED
  expect job j2 RUNNING on w1

story: A worker is told when a dispatch that it may have is denied
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  policy denies topic job.default "not any more"
  advance 3s
  expect job j1 DENIED
  expect worker w1 was told to cancel j1

story: A job that needs approval now is not tried again because its worker asks for it
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  policy wants approval for topic job.default
  worker w1 goes silent
  advance 36s
  expect job j1 APPROVAL_REQUIRED
  worker w1 answers j1 FAILED_RETRYABLE epoch 1
  expect job j1 APPROVAL_REQUIRED
  expect metric transitions_refused_total 0
  worker w1 answers j1 SUCCEEDED epoch 1
  expect job j1 APPROVAL_REQUIRED
  expect metric results_ignored_total{cause=old_epoch} 1

story: The result of a dispatch that arrived counts although its job needs approval now
  worker w1 joins pool default capacity 1
  the bus loses the answer of the next dispatch
  submit job j1 topic job.default
  policy wants approval for topic job.default
  worker w1 goes silent
  advance 36s
  expect job j1 APPROVAL_REQUIRED
  worker w1 answers j1 SUCCEEDED epoch 1
  expect job j1 SUCCEEDED
