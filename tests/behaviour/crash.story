# A crash at any arrow of the walk leaves a record from which the walk resumes.
given topic job.default -> pool default

story: A crash between the DISPATCHED write and the publish is resolved in seconds
  worker w1 joins pool default capacity 4
  the scheduler crashes before the next dispatch
  submit job j1 topic job.default
  advance 100ms
  the scheduler restarts
  expect job j1 DISPATCHED on w1 epoch 1
  expect worker w1 got nothing
  advance 6s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w1 got job j1 epoch 2 1 times
  worker w1 answers j1 SUCCEEDED
  expect job j1 SUCCEEDED

story: A submit that is delivered again after such a crash does not acknowledge the job away
  worker w1 joins pool default capacity 4
  the scheduler crashes before the next dispatch
  submit job j1 topic job.default
  the scheduler restarts
  the submit of j1 is delivered again
  advance 6s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w1 got job j1 1 times

story: A crash after the publish hands out no epoch twice
  worker w1 joins pool default capacity 4
  the scheduler crashes after the next dispatch
  submit job j1 topic job.default
  the scheduler restarts
  advance 6s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w1 got job j1 epoch 1 1 times
  expect worker w1 got job j1 epoch 2 1 times
  worker w1 answers j1 SUCCEEDED epoch 1
  expect job j1 SUCCEEDED

story: The result of a job that was out in a crash counts before anybody looked at it
  worker w1 joins pool default capacity 4
  the scheduler crashes after the next dispatch
  submit job j1 topic job.default
  the scheduler restarts
  worker w1 answers j1 SUCCEEDED epoch 1
  expect job j1 SUCCEEDED epoch 1
  advance 10s
  expect worker w1 got job j1 1 times

story: A job that waits is still waiting after a crash and wakes up
  submit job j1 topic job.default
  expect job j1 PENDING waiting for no_workers
  the scheduler crashes
  advance 1m
  the scheduler restarts
  expect job j1 PENDING waiting for no_workers
  worker w1 joins pool default capacity 4
  expect job j1 RUNNING on w1

story: A job that was rolled back is tried again after a crash
  worker w1 joins pool default capacity 4
  the bus refuses the next dispatch
  submit job j1 topic job.default
  expect job j1 SCHEDULED
  the scheduler crashes
  advance 1s
  the scheduler restarts
  advance 6s
  expect job j1 RUNNING on w1 epoch 2

story: A job that is to be retried is retried after a crash
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  worker w1 answers j1 FAILED_RETRYABLE
  expect job j1 RETRYING
  the scheduler crashes
  advance 1s
  the scheduler restarts
  advance 6s
  expect job j1 RUNNING on w1 epoch 2

story: A dead letter whose message was not published before the crash is published after it
  the scheduler crashes before the next dead letter
  submit job j1 topic job.nowhere
  the scheduler restarts
  expect job j1 FAILED code no_pool_mapping
  expect dead letter of j1 code no_pool_mapping
  expect no message on sys.job.dlq
  advance 20s
  expect message on sys.job.dlq for j1 code no_pool_mapping

story: A dead letter that the bus refuses is published once more half a second later
  the bus refuses the next dead letter
  submit job j1 topic job.nowhere
  expect dead letter of j1 code no_pool_mapping
  advance 400ms
  expect no message on sys.job.dlq
  advance 100ms
  expect message on sys.job.dlq for j1
  expect metric dlq_emit_failures_total 0

story: A dead letter that the bus refuses twice counts as failed, and is published later
  the bus refuses the next 2 dead letters
  submit job j1 topic job.nowhere
  advance 1s
  expect no message on sys.job.dlq
  expect metric dlq_emit_failures_total{topic=other} 1
  advance 20s
  expect message on sys.job.dlq for j1
  expect metric dlq_emit_failures_total{topic=other} 1

story: Each failure to publish a dead letter is counted under the topic of its job
  the bus refuses the next 4 dead letters
  submit job j1 topic job.nowhere
  advance 16s
  expect no message on sys.job.dlq
  expect metric dlq_emit_failures_total{topic=other} 2
  advance 20s
  expect message on sys.job.dlq for j1

story: Other messages that the bus refuses are no failed dead letters
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default deadline 2s
  the bus refuses the next cancel
  advance 3s
  expect job j1 TIMEOUT
  expect no message on sys.job.cancel
  expect metric dlq_emit_failures_total 0
  advance 20s
  expect worker w1 was told to cancel j1

story: Messages that wait for their handlers do not keep a dead letter from being published
  garbage is published on sys.job.submit 250 times
  the bus refuses the next 2 dead letters
  submit job j1 topic job.nowhere
  advance 12s
  expect metric unmarshal_failure_total{subject=sys.job.submit} 750
  expect message on sys.job.dlq for j1

story: A submit that the store could not take survives a crash
  worker w1 joins pool default capacity 4
  the store fails the next write of DISPATCHED
  submit job j1 topic job.default
  expect no job j1
  expect submit of j1 is stored
  the scheduler crashes
  advance 10s
  the scheduler restarts
  advance 1s
  expect job j1 RUNNING on w1 epoch 1

story: The policy that is asked over a wire dies with the scheduler and is asked again
  given policy answers after 2s
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  expect submit of j1 is stored
  expect job j1 PENDING
  the scheduler crashes
  advance 1s
  the scheduler restarts
  expect metric orphan_replayed_total 0
  advance 15s
  expect job j1 RUNNING on w1 epoch 1
  expect worker w1 got job j1 1 times
  expect metric orphan_replayed_total{topic=job.default} 1

story: Time in which no scheduler ran makes no attempts
  submit 3 jobs j topic job.default
  the scheduler crashes
  advance 30m
  the scheduler restarts
  advance 20s
  expect job j1 PENDING waiting for no_workers
  worker w1 joins pool default capacity 4
  expect job j1 RUNNING on w1
  expect job j2 RUNNING on w1
  expect job j3 RUNNING on w1

story: A dispatch that a crash kept from the bus is no delivery
  policy limits topic job.default max_retries 1
  worker w1 joins pool default capacity 4
  the scheduler crashes before the next dispatch
  submit job j1 topic job.default
  the scheduler restarts
  advance 6s
  expect job j1 RUNNING on w1 epoch 2 deliveries 1
  worker w1 answers j1 FAILED_RETRYABLE
  advance 10s
  expect job j1 RUNNING on w1 epoch 3 deliveries 2

story: After a crash a dispatch goes to its worker again though others wait
  worker w1 joins pool default capacity 1
  the scheduler crashes after the next dispatch
  submit job j1 topic job.default
  the scheduler restarts
  submit job j2 topic job.default
  advance 6s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w1 did not get job j2

story: After a crash a dispatch waits until its worker is heard
  worker w1 joins pool default capacity 1
  the scheduler crashes after the next dispatch
  submit job j1 topic job.default
  worker w1 goes silent
  the scheduler restarts
  worker w2 joins pool default capacity 1
  advance 10s
  expect job j1 DISPATCHED on w1 epoch 1
  worker w1 speaks again
  advance 1s
  expect job j1 RUNNING on w1 epoch 2
  expect worker w2 got nothing

story: After a crash a dispatch whose worker is not heard goes to another
  worker w1 joins pool default capacity 1
  the scheduler crashes after the next dispatch
  submit job j1 topic job.default
  worker w1 goes silent
  the scheduler restarts
  worker w2 joins pool default capacity 1
  advance 32s
  expect job j1 RUNNING on w2 epoch 2
