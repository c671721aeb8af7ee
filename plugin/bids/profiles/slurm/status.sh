#!/bin/sh
# status.sh JOB: running, success or failed, from the controller, or from accounting once that has forgotten the job.
job=${1%%;*}
state=$(scontrol show job "$job" -o 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p')
[ -n "$state" ] || state=$(sacct -X -n -P -j "$job" -o State 2>/dev/null | sed -n '1s/ .*//p;1q')
case $state in
COMPLETED) echo success ;;
BOOT_FAIL* | CANCELLED* | DEADLINE* | FAILED* | NODE_FAIL* | OUT_OF_MEM* | PREEMPTED* | TIMEOUT* | REVOKED*)
    echo failed
    ;;
*) echo running ;; # pending, running, completing; or the controller does not answer just now
esac
