#!/bin/bash
# Kills the workers of a study and then its first process, starts the same command again, and compares scores and report with those
# of a study that nobody disturbed: the same but for times and the command's folder.
#
#   usage: test/tools/mad-kill-and-resume.sh BIN_DIR
set -euo pipefail

bin=${1:?usage: mad-kill-and-resume.sh BIN_DIR}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

fail() { echo "mad-kill-and-resume: $*" >&2; exit 1; }
study() { # DIR: in it, so that the command is the same
  mkdir -p "$1" && cd "$1"
  exec "$bin/hybrid-run" mad "$root/models/mad/hyena-swiglu.hyb" "$root/models/mad/mamba.hyb" --tasks in-context-recall:vocab=8,length=16 \
    compression:vocab=6,length=8 --steps 300 --batch 4 --test-examples 16 --seeds 4 --set width=16 --precision f32 --jobs 2 --threads 1 \
    --out study --json --quiet
}

(study "$work/calm") >"$work/calm.json"

(study "$work/wild") >/dev/null 2>&1 &
first=$!
killed=0
while ((killed < 4)) && kill -0 "$first" 2>/dev/null; do
  sleep "0.$((RANDOM % 5 + 1))"
  mapfile -t workers < <(pgrep -P "$first" -f train-claimed-runs || true)
  ((${#workers[@]})) || continue
  kill -9 "${workers[RANDOM % ${#workers[@]}]}" 2>/dev/null && killed=$((killed + 1))
done
kill -9 "$first" 2>/dev/null || echo "the study was done before its first process could be killed"
wait "$first" 2>/dev/null || true
echo "killed $killed workers"
(study "$work/wild") >"$work/wild.json"

cmp "$work/calm.json" "$work/wild.json" || fail "the scores differ"
plain() { sed -E 's#"seconds":[0-9.e+-]+#"seconds":T#g' "$1"; }
diff <(plain "$work/calm/study/report.html") <(plain "$work/wild/study/report.html") | cut -c1-300 || fail "the reports differ"
echo "the same scores and report"
