# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
#
# What scripts/bench --instructions counts: the instructions that `duplex serve` runs in user space for each message, beside
# those that are in Benchmarks/instructions.txt. Read by scripts/bench, whose functions it uses.

instruction_counts=Benchmarks/instructions.txt
# By how many percent a count may be above the one in the file.
instruction_slack=5
# Handler, size and depth of each kind of message, and of how many messages of each connection a short run and a long one are.
instruction_runs=(
    "sync 32 1 500 2500"
    "sync 32 16 4000 20000"
    "sync 1024 1 500 2500"
    "async 32 1 500 2500"
    "async 32 16 2000 10000"
    "async 1024 1 500 2500"
)
instruction_connections=8

build_instructions() {
    local tool
    for tool in valgrind strip; do
        command -v "$tool" >/dev/null 2>&1 || fail "$tool is needed (apt: valgrind, binutils), and it isn't in the PATH."
    done
    note "Building the command and the load ..."
    SWIFT_DETERMINISTIC_HASHING=1 nice swift build -c release --product duplex >"$work/build.log" 2>&1 ||
        fail "the build failed:" "$(tail -n 20 "$work/build.log")"
    # Valgrind takes long over debug information, and has failed on some of it.
    duplex=$work/duplex-stripped
    strip --strip-debug -o "$duplex" "$(swift build -c release --show-bin-path)/duplex"
    cc -O2 -Wall -o "$work/wsload" Benchmarks/Load/wsload.c -lz || fail "zlib's header is needed (apt: zlib1g-dev)."
}

# count_instructions HANDLER SIZE DEPTH MESSAGES: runs the server under callgrind, with that many messages of each
# connection; sets instructions to all that it has run.
count_instructions() {
    local output=$work/callgrind-$1.out
    : >"$output"
    valgrind --tool=callgrind --callgrind-out-file="$output.counts" "$duplex" serve --handler "$1" --loops 1 \
        --host 127.0.0.1 --port 0 --quiet --limits local >"$output" 2>"$output.err" &
    pid=$!
    children+=("$pid")
    await_line "$output" "$pid"
    port=$(sed -nE '1s/.*:([0-9]+)[^0-9]*$/\1/p' "$output")
    "$work/wsload" -j -p /echo -s "$2" -d "$3" -c "$instruction_connections" -n "$4" -w 0 -T 600 "$port" \
        >"$output.load" || fail "the load generator found a fault; see $output.load."
    stop "$pid"
    instructions=$(awk '/^(totals|summary):/ { print $2; exit }' "$output.counts")
    [ -n "$instructions" ] || fail "callgrind has counted nothing; see $output.err."
}

# committed_count HANDLER SIZE DEPTH: the count in the file, if it has one.
committed_count() {
    awk -v kind="$1 $2 $3" '$1 " " $2 " " $3 == kind { print $4 }' "$instruction_counts" 2>/dev/null
}

# The slope between the two runs: what the beginning and the end cost is in both.
measure_instructions() {
    local run handler size depth short long first count before risen=0 lines=()
    # Under callgrind a server takes some fifty times as long to start, and on a busy machine longer.
    listen_seconds=300
    printf '%-8s%8s%8s%14s%12s\n' handler bytes depth instructions committed
    for run in "${instruction_runs[@]}"; do
        read -r handler size depth short long <<<"$run"
        count_instructions "$handler" "$size" "$depth" "$short"
        first=$instructions
        count_instructions "$handler" "$size" "$depth" "$long"
        count=$(((instructions - first) / ((long - short) * instruction_connections)))
        before=$(committed_count "$handler" "$size" "$depth")
        lines+=("$(printf '%-8s%8s%8s%14s' "$handler" "$size" "$depth" "$count")")
        printf '%s%12s' "${lines[-1]}" "${before:--}"
        if [ -n "$before" ] && ((count * 100 > before * (100 + instruction_slack))); then
            risen=$((risen + 1))
            printf '  risen by more than %s %%' "$instruction_slack"
        fi
        printf '\n'
    done
    if $update_instructions; then
        printf '%s\n' \
            "# Instructions in user space for each message of duplex serve on 8 connections, by scripts/bench --instructions." \
            "# handler  bytes   depth  instructions" "${lines[@]}" >"$instruction_counts"
    elif [ "$risen" -gt 0 ]; then
        fail "$risen of ${#lines[@]} counts have risen by more than $instruction_slack % (scripts/bench --instructions --update has the new ones kept)."
    fi
}
