#!/bin/sh
# The five papers on a GPU: builds the kernels and bench_paper, measures with all peers that python3 has, and writes
# OUT/paper_gpu.json, OUT/tables.txt and OUT/log.txt. Each paper is a process: one that fails costs its own rows.
#
#     sh bench/paper_gpu.sh OUT [BUILD]        # default BUILD: build-paper, kept for the next call
#
# Needs nvcc, CMake and Ninja; no Teem. Peers: PyTorch, CuPy, NumPy, SciPy, and TensorLy if python3 finds it. To carry
# TensorLy to a machine without a network:
#     python3 -m pip download --no-deps -d .whl tensorly        # here
#     python3 -m pip install --no-index --no-deps --target /tmp/site .whl/*.whl && export PYTHONPATH=/tmp/site   # there
set -eu
out=${1:?"usage: paper_gpu.sh OUT [BUILD]"}
build=${2:-build-paper}
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out"
{
    date
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
    cmake -G Ninja -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DHOTFIBER_KERNELS_ONLY=ON \
        -DHOTFIBER_CUDA="${HOTFIBER_CUDA:-AUTO}" -DHOTFIBER_TESTS=OFF &&
        ninja -C "$build" bench_paper
} >"$out/log.txt" 2>&1 || { tail -40 "$out/log.txt"; exit 1; }
date >>"$out/log.txt"
status=0
export PAPER_PEER_SECONDS="${PAPER_PEER_SECONDS:-100}"
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
for paper in Ballard Cosnuau Lessig Abdelfattah Liu; do
    timeout 60 "$build/bin/bench_paper" cuda .05 compiled $paper >"$parts/$paper.json" 2>>"$out/log.txt" || status=$?
    date >>"$out/log.txt"
done
timeout 150 "$build/bin/bench_paper" cuda .05 python >"$parts/peers.json" 2>>"$out/log.txt" || status=$?
date >>"$out/log.txt"
python3 "$source/bench/paper_tables.py" --merge "$out/paper_gpu.json" "$parts"/*.json 2>>"$out/log.txt" || status=$?
python3 "$source/bench/paper_tables.py" --print "$out/paper_gpu.json" >"$out/tables.txt" 2>>"$out/log.txt" || status=$?
cat "$out/tables.txt"
tail -15 "$out/log.txt"
exit "$status"
