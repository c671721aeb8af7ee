#!/bin/sh
# submit.sh [RULE THREADS MEMORY_MB MINUTES GPUS] SCRIPT: a job of Snakemake to Slurm; prints the job's number.
# Snakemake 8 and later finds this file only if the profile names it without arguments; then the script's properties
# have the rest.
set -eu
if [ $# -eq 1 ]; then
    # shellcheck disable=SC2046
    set -- $(sed -n 's/^# properties = //p' "$1" | python3 -c 'import json, sys
job = json.load(sys.stdin)
print(job["rule"], job["threads"], *(job["resources"][name] for name in ("mem_mb", "runtime", "gpu")))') "$1"
fi
rule=$1 threads=$2 memory=$3 minutes=$4 gpus=$5 script=$6
set --
[ "$gpus" -eq 0 ] || set -- --gres="gpu:$gpus"
mkdir -p .snakemake/slurm
exec sbatch --parsable --job-name="hotfiber-$rule" --cpus-per-task="$threads" --mem="$memory" --time="$minutes" \
    --output=".snakemake/slurm/$rule-%j.log" "$@" "$script"
