# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
#
# What scripts/bench measures of topics: one publisher to 10,000 subscribers beside a loop in C that sends the same bytes, the same
# with 1,000 that never receive, 10,000 topics of 10 subscribers, and memory. Read by scripts/bench, whose functions it uses.

build_topics() {
    note "Building the server of topics ..."
    nice swift build -c release --package-path Benchmarks/Topics --scratch-path "$work/topics" >"$work/topics.log" 2>&1 ||
        fail "the build failed:" "$(tail -n 20 "$work/topics.log")"
    duplex_topics=$work/topics/release/duplex-topics
}

# start_drain PATH CONNECTIONS: WebSockets that receive whatever comes; sets drain.
start_drain() {
    : >"$work/drain.out"
    taskset -c "$load_core" "$work/drain" -p "$1" -c "$2" "$port" >"$work/drain.out" 2>"$work/drain.err" &
    drain=$!
    children+=("$drain")
    await_line "$work/drain.out" "$drain"
}

# cpu_ticks PID: what a process has used, in hundredths of a second.
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

measure_topics() {
    local round size stalled=$((idle / 10)) interval=100000
    start_program tcp_fanout "$work/tcp_fanout" 0
    local c_pid=$pid c_port=$port
    start_program duplex-topics "$duplex_topics"
    local our_pid=$pid our_port=$port
    for ((round = 1; round <= rounds; round++)); do
        note "A topic with $idle subscribers, round $round of $rounds ..."
        for size in 64 1024; do
            measure_one "topics $size $round c" taskset -c "$load_core" "$work/fanout" -c "$idle" -s "$size" \
                -T "$seconds" -P "$c_pid" "$c_port"
            measure_one "topics $size $round duplex" taskset -c "$load_core" "$work/fanout" -c "$idle" -s "$size" \
                -T "$seconds" -p /all -P "$our_pid" "$our_port"
        done
    done
    stop "$c_pid"
    # As long as it takes until what the system holds for those that are stalled is full.
    for ((round = 1; round <= few_rounds; round++)); do
        note "$stalled of $idle subscribers that never receive, round $round of $few_rounds ..."
        measure_one "stalled 4096 $round without" taskset -c "$load_core" "$work/fanout" -c "$idle" -s 4096 \
            -i "$interval" -w 3 -T 4 -p /all -P "$our_pid" "$our_port"
        measure_one "stalled 4096 $round duplex" taskset -c "$load_core" "$work/fanout" -c $((idle - stalled)) \
            -x "$stalled" -s 4096 -i "$interval" -w 15 -T 4 -p /all -P "$our_pid" "$our_port"
    done
    stop "$our_pid"
    measure_many_topics
    measure_topics_memory
}

# 100,000 publications in a second, each to 10 subscribers.
measure_many_topics() {
    local round before after line
    start_program duplex-topics "$duplex_topics"
    start_drain /many 1000
    for ((round = 1; round <= few_rounds; round++)); do
        note "10,000 topics of 10 subscribers, round $round of $few_rounds ..."
        before=$(cpu_ticks "$pid")
        line=$(curl -sS "http://127.0.0.1:$port/publish/100000")
        after=$(cpu_ticks "$pid")
        echo "many topics $round duplex $line cpu_secs=$(awk "BEGIN { print ($after - $before) / 100 }")" >>"$results"
    done
    stop "$drain"
    stop "$pid"
}

measure_topics_memory() {
    note "Memory of subscriptions and topics ..."
    start_program duplex-topics "$duplex_topics"
    start_drain /plain 1000
    echo "topicmemory 1 1 duplex $(curl -sS "http://127.0.0.1:$port/memory")" >>"$results"
    stop "$drain"
    stop "$pid"
}
