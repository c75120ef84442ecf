#!/bin/bash
# Compiles a small model, runs it and a step of its training by hybrid-run, and lets a C program compare.
#
#   usage: test/unit/runtime/c-interface.sh BIN_DIR CINTERFACE_TEST
set -euo pipefail

bin=${1:?usage: c-interface.sh BIN_DIR CINTERFACE_TEST}
program=${2:?usage: c-interface.sh BIN_DIR CINTERFACE_TEST}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tokens=tokens=2x8xi32=1,2,3,4,5,6,7,8,8,7,6,5,4,3,2,1
targets=targets=2x8xi32=2,3,4,5,6,7,8,9,7,6,5,4,3,2,1,0
"$bin/hybridc" "$root/models/lm/byte-attention.hyb" -o "$work/model.hyx" --batch 2 --length 8 \
  --set width=16 --set heads=2 --set inner=16 --set blocks=A
"$bin/hybridc" "$root/models/lm/byte-attention.hyb" -o "$work/decoding.hyx" --decode --batch 2 --length 8 \
  --set width=16 --set heads=2 --set inner=16 --set blocks=A
"$bin/hybrid-run" forward "$work/model.hyx" --init-seed 7 --input "$tokens" --threads 1 --out "$work/forward"
"$bin/hybrid-run" replay "$work/model.hyx" --init-seed 7 --input "$tokens" --input "$targets" --threads 1 --steps 1 \
  --schedule constant --lr 0.01 --warmup 0 --weight-decay 0.1 --beta1 0.9 --beta2 0.98 --eps 1e-8 --clip 0 --out "$work/replay"
"$program" "$work/model.hyx" "$work/forward" "$work/replay" "$work/decoding.hyx"
# For another user the executable is a stranger's.
XDG_CONFIG_HOME=$work/other "$program" "$work/model.hyx"
