# The recipe for PyTorch and test_linalg_torch.py, on the CPU, by PyTorch of PyPI: 3 GB to download, so only in the long
# form. Where Python has PyTorch, test_docs.py runs the recipe.
set -eu
[ -n "${HOT_TEST_LONG:-}" ] || {
    echo "skipped: PyTorch is installed in the long form only (tests/run.sh --long)"
    exit 77
}
python=$HOT_BUILD/torch
"$python/bin/python" -c 'import torch' 2>/dev/null || {
    rm -rf "$python"
    { /usr/bin/python3 -m venv --system-site-packages "$python" && "$python/bin/pip" install --quiet torch; } \
        >torch.log 2>&1 || {
        echo "skipped: pip cannot install torch: $(tail -n 1 torch.log)"
        rm -rf "$python"
        exit 77
    }
}
export CUDA_VISIBLE_DEVICES=
"$python/bin/python" "$HOT_SOURCE/tests/python/test_docs.py" recipes/pytorch.md
"$python/bin/python" -W ignore "$HOT_SOURCE/tests/python/test_linalg_torch.py"
