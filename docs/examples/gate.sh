#!/usr/bin/env bash
# Stops with 1 where trajectories do not fit the window, or the trainer would refuse them, and names the rows.
#
#   gate.sh TRAINER INPUT...        gate.sh trl data/
#
# Settings come from the environment, as TRAJCOMPRESS_TOKENIZER, TRAJCOMPRESS_TARGET_MAX_TOKENS, TRAJCOMPRESS_CACHE.
set -euo pipefail

trainer=${1:?usage: gate.sh TRAINER INPUT...}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Failed rows are for the audit to judge, which names them.
trajcompress compress "$@" --output "$work/out" --for "$trainer" --max-failed 100% --quiet

# The rows are in the form of the trainer now; those that have none are left out, and what it would refuse all the same
# is to be mended where they come from.
verdict=0
trajcompress audit "$work/out" --max-over-limit 0 --max-failed 0 --max-left-out 0 || verdict=$?
trajcompress check "$work/out" --for "$trainer" || verdict=$?
exit "$verdict"
