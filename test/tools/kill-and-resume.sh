#!/bin/bash
# Kills a training run with SIGKILL at random moments, twice in a row, resumes it, and compares what it leaves with an
# uninterrupted run: the checkpoints byte for byte, the metrics but for times. Then asks one to stop with SIGTERM.
#
#   usage: test/tools/kill-and-resume.sh BIN_DIR [MODEL.hyb|MODEL.hyx] [SEED]
set -euo pipefail

bin=${1:?usage: kill-and-resume.sh BIN_DIR [MODEL] [SEED]}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
model=${2:-$root/models/mad/striped-hyena-swiglu.hyb}
RANDOM=${3:-$$}
echo "seed ${3:-$$}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Small, so that the steps are short and the kills fall everywhere: into steps, evaluations and checkpoints.
if [[ $model == *.hyb ]]; then
  "$bin/hybridc" "$model" -o "$work/model.hyx" --batch 4 --length 32
  model=$work/model.hyx
fi
common=(train "$model" --task in-context-recall:length=32 --steps 60 --seed 3 --report-every 7 --eval-every 10
  --checkpoint-every 5 --eval-examples 16 --final-examples 32 --threads 2 --keep 100)

fail() { echo "kill-and-resume: $*" >&2; exit 1; }

start=$(date +%s%N)
"$bin/hybrid-run" "${common[@]}" --out "$work/whole" >"$work/whole.log" 2>&1 || { cat "$work/whole.log" >&2; fail "the uninterrupted run failed"; }
lasted=$((($(date +%s%N) - start) / 1000000))

killed=0
for ((attempt = 0; attempt < 12 && killed < 2; attempt++)); do
  "$bin/hybrid-run" "${common[@]}" --out "$work/parts" --resume >>"$work/parts.log" 2>&1 &
  run=$!
  delay=$((RANDOM % (lasted / 2 + 1) + lasted / 20))
  sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
  if kill -9 "$run" 2>/dev/null; then
    wait "$run" 2>/dev/null || true
    killed=$((killed + 1))
    echo "killed after $delay ms, newest checkpoint: $(ls "$work/parts/checkpoints" 2>/dev/null | grep '^step.*safetensors$' | tail -1)"
  else
    # It came to its end first: both kills must hit one run, so begin again.
    wait "$run" || { cat "$work/parts.log" >&2; fail "the resumed run failed"; }
    rm -rf "$work/parts"
    killed=0
  fi
done
((killed == 2)) || fail "the run was too short to be killed twice (${lasted} ms)"
"$bin/hybrid-run" "${common[@]}" --out "$work/parts" --resume >>"$work/parts.log" 2>&1 || { cat "$work/parts.log" >&2; fail "the resumed run failed"; }

for file in "$work"/whole/checkpoints/*.safetensors; do
  other=$work/parts/checkpoints/$(basename "$file")
  cmp "$file" "$other" || fail "$(basename "$file") differs from the uninterrupted run's"
done
python3 - "$work" <<'EOF' || fail "the metrics differ from the uninterrupted run's"
import json, sys
def lines(run):
    rows = [json.loads(line) for line in open(f"{sys.argv[1]}/{run}/metrics.jsonl")]
    return [{k: v for k, v in row.items() if k not in ("seconds", "tokens_per_second")} for row in rows]
whole, parts = lines("whole"), lines("parts")
sys.exit(f"{whole}\n{parts}" if whole != parts else 0)
EOF

# SIGTERM: the step is finished, the state saved, the exit status 0.
"$bin/hybrid-run" "${common[@]}" --out "$work/term" >"$work/term.log" 2>&1 &
run=$!
for ((i = 0; i < 2000; i++)); do
  [[ -s $work/term/metrics.jsonl ]] && break
  kill -0 "$run" 2>/dev/null || break
  sleep 0.01
done
kill -TERM "$run"
wait "$run" || fail "SIGTERM: exit status $?, expected 0"
grep -q "stopped by SIGTERM" "$work/term.log" || fail "SIGTERM: the run did not say that it stopped"
"$bin/hybrid-run" "${common[@]}" --out "$work/term" --resume >>"$work/term.log" 2>&1 || { cat "$work/term.log" >&2; fail "resuming after SIGTERM failed"; }
cmp "$work"/{whole,term}/checkpoints/step-00000060.safetensors || fail "the run stopped by SIGTERM differs"
echo "kill-and-resume: the same bits after two kills and after SIGTERM"
