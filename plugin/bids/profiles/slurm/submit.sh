#!/bin/sh
# submit.sh RULE THREADS MEMORY_MB MINUTES GPUS SCRIPT: a job of Snakemake to Slurm; prints the job's number.
set -eu
rule=$1 threads=$2 memory=$3 minutes=$4 gpus=$5 script=$6
set --
[ "$gpus" -eq 0 ] || set -- --gres="gpu:$gpus"
mkdir -p .snakemake/slurm
exec sbatch --parsable --job-name="hotfiber-$rule" --cpus-per-task="$threads" --mem="$memory" --time="$minutes" \
    --output=".snakemake/slurm/$rule-%j.log" "$@" "$script"
