# What is let in: idempotency keys, resubmissions, validation (IN-4..IN-8, IN-16).
given topic job.default -> pool default

story: A second job with the same idempotency key is not made
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme idempotency k1
  submit job j2 topic job.default tenant acme idempotency k1
  expect job j1 RUNNING
  expect no job j2
  expect metric idempotency_duplicates_total 1
  expect worker w1 did not get job j2

story: An idempotency key holds while its job waits and after it ended
  submit job j1 topic job.default idempotency k1
  expect job j1 PENDING
  submit job j2 topic job.default idempotency k1
  expect no job j2
  cancel j1
  submit job j3 topic job.default idempotency k1
  expect no job j3
  the scheduler restarts
  submit job j4 topic job.default idempotency k1
  expect no job j4

story: Tenants have idempotency keys of their own
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme idempotency k1
  submit job j2 topic job.default tenant bolt idempotency k1
  expect job j1 RUNNING
  expect job j2 RUNNING

story: A job that failed at once keeps its idempotency key
  submit job j1 topic job.nowhere idempotency k1
  expect job j1 FAILED
  submit job j2 topic job.default idempotency k1
  expect no job j2

story: Submitting the same job again is the same job
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default labels a=1 context redis://ctx:1
  submit job j1 topic job.default labels a=1 context redis://ctx:1
  expect job j1 RUNNING epoch 1
  expect worker w1 got job j1 1 times
  expect metric resubmit_conflicts_total 0

story: Submitting other content under a known id is refused
  submit job j1 topic job.default labels a=1 tenant acme
  submit job j1 topic job.default labels a=2 tenant acme
  expect metric resubmit_conflicts_total 1
  submit job j1 topic job.default labels a=1 tenant mallory
  expect metric resubmit_conflicts_total 2
  worker w1 joins pool default capacity 4
  expect worker w1 got job j1 labels a=1 1 times

story: Other content for an ended job is refused
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default context redis://ctx:1
  worker w1 answers j1 SUCCEEDED
  submit job j1 topic job.default context redis://ctx:2
  expect job j1 SUCCEEDED
  expect metric resubmit_conflicts_total 1
  expect worker w1 got job j1 1 times

story: A tenant that contradicts itself is dropped
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme env tenant_id=mallory
  expect no job j1
  expect metric validation_rejections_total 1
  expect log "security: job request of two tenants rejected" as an error 1 times about j1
  expect no dead letter of j1

story: A tenant named twice alike is let in
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default tenant acme env tenant_id=acme
  expect job j1 RUNNING

story: Blanks around id and topic do not count
  worker w1 joins pool default capacity 4
  submit job " j1 " topic " job.default "
  expect job j1 RUNNING

story: A job without an id or a topic is rejected
  submit job "" topic job.default
  submit job j1 topic ""
  expect no job j1
  expect metric validation_rejections_total 2
  expect metric jobs_received_total 0
  expect metric jobs_completed_total 0

story: A job whose topic is blank has failed
  worker w1 joins pool default capacity 4
  submit job j1 topic " "
  expect job j1 FAILED code dispatch_failed saying "missing topic"
  expect metric jobs_completed_total{topic=unknown,status=JOB_STATUS_FAILED} 1
  expect metric validation_rejections_total 0
  expect metric jobs_received_total 0
  expect dead letter of j1 code dispatch_failed
  the submit of j1 is delivered again
  expect job j1 FAILED
  expect metric jobs_completed_total{topic=unknown,status=JOB_STATUS_FAILED} 1

story: A blank topic is judged after everything else of the request
  submit job j1 topic " " priority 9
  expect no job j1
  expect metric validation_rejections_total 1
  expect metric jobs_completed_total 0

story: A blank topic under a known id does not touch the job
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default
  submit job j1 topic " "
  expect job j1 RUNNING on w1
  expect metric resubmit_conflicts_total 1

story: A failed write of a job without a topic is made again
  the store fails the next write of FAILED
  submit job j1 topic " "
  expect no job j1
  advance 2s
  expect job j1 FAILED code dispatch_failed

story: A job whose id is blank has failed, and is no job
  submit job "  " topic job.default
  expect metric jobs_completed_total{topic=job.default,status=JOB_STATUS_FAILED} 1
  expect metric validation_rejections_total 0
  expect metric jobs_received_total 0

story: A priority or step out of range is rejected
  submit job j1 topic job.default priority 9
  submit job j2 topic job.default step -1
  expect no job j1
  expect no job j2
  expect metric validation_rejections_total 2

story: A negative deadline is rejected
  submit job j1 topic job.default deadline -5s
  expect no job j1
  expect metric validation_rejections_total 1

story: A packet that cannot be read is tried three times and kept as a dead letter
  garbage is published on sys.job.submit
  expect metric unmarshal_failure_total{subject=sys.job.submit,reason=unmarshal} 1
  advance 20s
  expect metric unmarshal_failure_total{subject=sys.job.submit} 4
  expect log "message terminated" 1 times
  advance 1m
  expect metric unmarshal_failure_total{subject=sys.job.submit} 4

story: A worker id that would break its subject is refused
  worker a.b joins pool default capacity 4
  submit job j1 topic job.default
  expect metric heartbeats_refused_total 1
  expect job j1 PENDING waiting for no_workers

story: A request that leaves no room for what its dispatch adds is refused
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default bytes 1000000
  expect no job j1
  expect metric validation_rejections_total 1
  submit job j2 topic job.default bytes 900000
  expect job j2 RUNNING on w1

story: A configuration that the request carries reaches the worker untouched
  worker w1 joins pool default capacity 4
  submit job j1 topic job.default env CORDUM_EFFECTIVE_CONFIG={"limit":7}
  expect worker w1 got job j1 env CORDUM_EFFECTIVE_CONFIG={"limit":7}
