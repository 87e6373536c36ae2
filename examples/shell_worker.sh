#!/bin/sh
# Shouts the prompt of every job. What stands behind -- is run once for each; its standard output is
# the result. Try: fairlead job submit --wait "hello"; fairlead job logs ID
exec "${FAIRLEAD:-fairlead}" worker --pool "${POOL:-default}" --parallel 2 -- sh -c '
  echo "50 shouting" >&3
  tr a-z A-Z < "$FAIRLEAD_PROMPT_FILE"
'
