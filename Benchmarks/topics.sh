# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
#
# What scripts/bench measures of topics: one publisher to 10,000 subscribers beside a loop in C that sends the same bytes, the same
# by uWebSockets and with 1,000 that never receive, 10,000 topics of 10 subscribers, what one node hands another by Redis beside
# redis-benchmark, and memory. Read by scripts/bench, whose functions it uses.

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
    local our_pid=$pid our_port=$port uws_pid= uws_port=
    if [ -x "$uws_server" ] && start_program uws "$uws_server"; then uws_pid=$pid uws_port=$port; fi
    for ((round = 1; round <= rounds; round++)); do
        note "A topic with $idle subscribers, round $round of $rounds ..."
        for size in 64 1024; do
            measure_one "topics $size $round c" taskset -c "$load_core" "$work/fanout" -c "$idle" -s "$size" \
                -T "$seconds" -P "$c_pid" "$c_port"
            measure_one "topics $size $round duplex" taskset -c "$load_core" "$work/fanout" -c "$idle" -s "$size" \
                -T "$seconds" -p /all -P "$our_pid" "$our_port"
            if [ -n "$uws_pid" ]; then
                measure_one "topics $size $round uws" taskset -c "$load_core" "$work/fanout" -c "$idle" -s "$size" \
                    -T "$seconds" -p /all -P "$uws_pid" "$uws_port"
            fi
        done
    done
    stop "$c_pid"
    if [ -n "$uws_pid" ]; then stop "$uws_pid"; fi
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
    measure_between
    measure_topics_memory
}

# What Redis takes of redis-benchmark, and what one node publishes and another gets of it, with as many messages at once; Redis on the
# server's core, all else on the load's.
measure_between() {
    local round depth text rate redis redis_port
    if ! command -v redis-benchmark >/dev/null; then
        note "Between nodes: left out, redis-benchmark isn't there (apt: redis-server, redis-tools)."
        return
    fi
    redis_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    taskset -c "$server_core" redis-server --port "$redis_port" --save "" --dir "$work" >"$work/redis.log" &
    redis=$!
    children+=("$redis")
    until redis-cli -p "$redis_port" ping >/dev/null 2>&1; do
        kill -0 "$redis" 2>/dev/null || fail "redis-server ended at once: see $work/redis.log."
        sleep 0.05
    done
    text=$(printf 'x%.0s' {1..64})
    for ((round = 1; round <= few_rounds; round++)); do
        for depth in 16 256; do
            note "What is published between two nodes, $depth at once, round $round of $few_rounds ..."
            rate=$(taskset -c "$load_core" redis-benchmark -p "$redis_port" -c 1 -P "$depth" -n 300000 --csv PUBLISH between "$text" |
                python3 -c 'import csv, sys; print([row for row in csv.reader(sys.stdin)][-1][1])')
            echo "between $depth $round redis rate=$rate" >>"$results"
            measure_one "between $depth $round duplex" taskset -c "$load_core" \
                "$duplex_topics" between "redis://127.0.0.1:$redis_port" "$depth" "$seconds"
        done
    done
    stop "$redis"
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
