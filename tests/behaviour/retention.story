# What has ended is kept for seven days.
given topic job.default -> pool default

story: All that has outlived its time goes, however much it is
  submit 2500 jobs j topic job.nowhere
  submit job live topic job.default
  expect job j2500 FAILED code no_pool_mapping
  the scheduler crashes
  advance 167h
  the scheduler restarts
  advance 2m
  expect job j1 FAILED
  the scheduler crashes
  advance 1h
  the scheduler restarts
  advance 5s
  expect no job j1
  expect no job j1000
  expect no job j1001
  expect no job j2500
  expect job live PENDING
