# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
#
# What scripts/bench measures beyond echoes, streams and memory: the libraries of others, compression, TLS, broadcasts, the
# client, allocations, and connections that are opened and closed. Read by scripts/bench, whose functions it uses.

peer_python=.build-peers/venv/bin/python3
rival_folder=.build-bench/rivals

# start_program NAME COMMAND...: starts a server that prints its port; sets pid and port.
start_program() {
    local output=$work/$1.out
    shift
    : >"$output"
    NODE_PATH=/usr/share/nodejs:.build-peers/node/node_modules taskset -c "$server_core" "$@" >"$output" 2>"$output.err" &
    pid=$!
    children+=("$pid")
    await_line "$output" "$pid"
    port=$(head -n 1 "$output")
}

# start_serve NAME ARGUMENTS...: starts `duplex serve` with one loop; sets pid and port.
start_serve() {
    local output=$work/serve-$1.out
    shift
    : >"$output"
    taskset -c "$server_core" "$duplex" serve --loops 1 --host 127.0.0.1 --port 0 --quiet --limits local "$@" \
        >"$output" 2>"$output.err" &
    pid=$!
    children+=("$pid")
    await_line "$output" "$pid"
    port=$(sed -nE '1s/.*:([0-9]+)[^0-9]*$/\1/p' "$output")
}

# start_peer NAME [deflate]: starts the server of a library of others; sets pid and port.
start_peer() {
    case "$1" in
    node) start_program "$1" node Benchmarks/Peers/node_server.cjs "${@:2}" ;;
    python) start_program "$1" "$peer_python" Benchmarks/Peers/python_server.py "${@:2}" ;;
    nio) start_program "$1" "$rival_folder/release/nio-echo" ;;
    flyingfox) start_program "$1" "$rival_folder/release/flyingfox-echo" ;;
    esac
}

# build_rivals: the Swift libraries of others, where they can be fetched.
build_rivals() {
    local options=(--package-path Benchmarks/Rivals --scratch-path "$rival_folder")
    note "Building the Swift libraries of others ..."
    if ! swift package "${options[@]}" resolve >"$work/rivals.log" 2>&1; then
        note "They can't be fetched; see $work/rivals.log."
        return
    fi
    nice swift build -c release "${options[@]}" >"$work/rivals.log" 2>&1 ||
        fail "the build failed:" "$(tail -n 20 "$work/rivals.log")"
    peers+=(nio flyingfox)
}

# Those that are there: Node and Python come with scripts/setup --tests, the Swift libraries are built here.
find_peers() {
    peers=()
    if NODE_PATH=/usr/share/nodejs:.build-peers/node/node_modules node -e 'require("ws")' 2>/dev/null; then
        peers+=(node)
    fi
    if [ -x "$peer_python" ]; then peers+=(python); fi
    if ! $quick; then build_rivals; fi
    [ ${#peers[@]} -gt 0 ] || note "No library of others is here to be measured beside: run scripts/setup --tests."
}

# As the echoes, with everybody in each round. A peer that can't do something has no figure for it.
measure_peers() {
    local round configuration size depth connections who
    declare -A ids ports
    start_echo && ids[c]=$pid && ports[c]=$port
    for who in sync async; do start_duplex "$who" && ids[$who]=$pid && ports[$who]=$port; done
    for who in "${peers[@]}"; do start_peer "$who" && ids[$who]=$pid && ports[$who]=$port; done
    for ((round = 1; round <= few_rounds; round++)); do
        note "Libraries of others, round $round of $few_rounds ..."
        for configuration in "${configurations[@]}"; do
            read -r size depth connections <<<"$configuration"
            local arguments=(-s "$size" -d "$depth" -c "$connections" -T "$seconds" -w 0.3)
            for who in c sync async "${peers[@]}"; do
                local raw=()
                if [ "$who" = c ]; then raw=(-r); fi
                measure_one "peer $round $size $depth $connections $who" taskset -c "$load_core" "$work/wsload" -j \
                    -p /echo "${raw[@]}" "${arguments[@]}" -P "${ids[$who]}" "${ports[$who]}"
            done
        done
    done
    for who in "${!ids[@]}"; do stop "${ids[$who]}"; done
}

# The program and the path behind each name: a handler that is async, and one that isn't, are two paths of one server.
request_path() { if [ "$1" = async ]; then echo /hello/async; else echo /hello; fi; }

# GET of 13 bytes on connections that stay open, with everybody in each round.
measure_requests() {
    local round depth who known=(c sync async)
    declare -A ids ports
    start_program http_hello "$work/http_hello" 0 && ids[c]=$pid && ports[c]=$port
    start_serve hello && ids[sync]=$pid && ports[sync]=$port && ids[async]=$pid && ports[async]=$port
    if start_nginx nginx; then
        known+=(nginx) && ids[nginx]=$pid && ports[nginx]=$port
    else
        note "nginx isn't there, or doesn't run: scripts/setup --tests installs it."
    fi
    if ! $quick && [ -x "$rival_folder/release/hummingbird-hello" ]; then
        start_program hummingbird "$rival_folder/release/hummingbird-hello"
        known+=(hummingbird) && ids[hummingbird]=$pid && ports[hummingbird]=$port
    fi
    for ((round = 1; round <= rounds; round++)); do
        note "Requests, round $round of $rounds ..."
        for depth in 1 16; do
            for who in "${known[@]}"; do
                measure_one "request $depth $round $who" taskset -c "$load_core" "$work/http_load" -j -c 50 -d "$depth" \
                    -p "$(request_path "$who")" -T "$seconds" -w 0.3 -P "${ids[$who]}" "${ports[$who]}"
            done
        done
    done
    for who in "${known[@]}"; do stop "${ids[$who]}"; done
}

# One connection takes a gibibyte and then sends one; what is counted is the peak of the resident set.
measure_bodies() {
    local size=$((1 << 30)) handler=async file=$work/zeros before
    note "Bodies of $((size >> 20)) MiB ..."
    truncate -s "$size" "$file"
    start_duplex "$handler"
    local url=http://localhost:$port
    # Its first request is not what is measured.
    curl -sS -o /dev/null "$url/bytes/1"
    before=$(rss "$pid")
    echo 5 >"/proc/$pid/clear_refs"
    curl -sS -H Expect: -T "$file" "$url/count" --next -sS -o "$work/zeros.got" \
        -w 'connections=%{num_connects}\n' "$url/bytes/$size" >"$work/bodies.txt"
    cmp "$file" "$work/zeros.got" || fail "what came of $size bytes isn't what was sent"
    grep -qx "$size" "$work/bodies.txt" || fail "the server has counted other than $size bytes"
    echo "bodies $handler before_kb=$before peak_kb=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status") size=$size" \
        "$(grep '^connections=' "$work/bodies.txt")" >>"$results"
    rm -f "$file" "$work/zeros.got"
    stop "$pid"
}

# measure_one NAME COMMAND...: adds a line to the results, or says that there is none.
measure_one() {
    local name=$1 line
    shift
    if line=$("$@"); then echo "$name $line" >>"$results"; else note "No figure for $name: $line"; fi
}

# Messages that look like JSON, each compressed by itself on the way there; the answers with context, where the server has it.
measure_deflate() {
    local round configuration size connections who
    declare -A ids ports
    start_serve deflate --handler sync --compression on && ids[duplex]=$pid && ports[duplex]=$port
    for who in "${peers[@]}"; do
        case "$who" in node | python) start_peer "$who" deflate && ids[$who]=$pid && ports[$who]=$port ;; esac
    done
    for ((round = 1; round <= few_rounds; round++)); do
        note "Compression, round $round of $few_rounds ..."
        for configuration in "1024 50" "65536 8"; do
            read -r size connections <<<"$configuration"
            for who in "${!ids[@]}"; do
                measure_one "deflate $size $round $who" taskset -c "$load_core" "$work/wsload" -j -z -t -p /echo -d 1 \
                    -s "$size" -c "$connections" -T "$seconds" -w 0.3 -P "${ids[$who]}" "${ports[$who]}"
            done
        done
    done
    measure_share_of_compressor 1024 50 "${ids[duplex]}" "${ports[duplex]}"
    measure_share_of_compressor 65536 8 "${ids[duplex]}" "${ports[duplex]}"
    for who in "${!ids[@]}"; do stop "${ids[$who]}"; done
}

# measure_share_of_compressor SIZE CONNECTIONS PID PORT: how much of the server's time, and of that outside the system, ISA-L has.
measure_share_of_compressor() {
    local profiler
    if ! command -v perf >/dev/null 2>&1; then
        note "perf isn't there: the share of the compressor is not measured."
        return
    fi
    perf record -q -o "$work/compressor.perf" -p "$3" sleep "$seconds" >/dev/null 2>"$work/perf.err" &
    profiler=$!
    taskset -c "$load_core" "$work/wsload" -j -z -t -p /echo -d 1 -s "$1" -c "$2" -T "$seconds" -w 0.3 "$4" >/dev/null
    wait "$profiler" || { note "perf may not watch here: the share of the compressor is not measured." && return; }
    perf report -i "$work/compressor.perf" --sort dso --stdio 2>/dev/null | awk -v size="$1" '
        /^ *[0-9.]+%/ { share = $1 + 0; if ($2 ~ /libisal\./) isal += share; if ($2 ~ /kernel/) kernel += share; all += share }
        END { if (all) printf "compressor %s of_all=%.4f of_user=%.4f\n", size, isal / all, isal / (all - kernel) }' >>"$results"
}

# The sans-I/O limit is an echo over OpenSSL without WebSockets.
measure_secured() {
    local round configuration size connections
    start_tls_echo
    local c_pid=$pid c_port=$port
    start_serve secured --handler sync --tls-cert "$work/cert.pem" --tls-key "$work/key.pem"
    local our_pid=$pid our_port=$port
    for ((round = 1; round <= few_rounds; round++)); do
        note "WebSockets over TLS, round $round of $few_rounds ..."
        for configuration in "32 50" "65536 8"; do
            read -r size connections <<<"$configuration"
            local arguments=(--tls -s "$size" -c "$connections" -T "$seconds" -w 0.3)
            echo "secured $size $round c $(stream_load "${arguments[@]}" -P "$c_pid" "$c_port")" >>"$results"
            echo "secured $size $round duplex $(stream_load "${arguments[@]}" --websocket /echo -P "$our_pid" \
                "$our_port")" >>"$results"
        done
    done
    stop "$c_pid"
    stop "$our_pid"
}

measure_broadcast() {
    local round size
    start_program tcp_fanout "$work/tcp_fanout" 0
    local c_pid=$pid c_port=$port
    start_serve broadcast --handler broadcast
    local our_pid=$pid our_port=$port
    for ((round = 1; round <= rounds; round++)); do
        note "Broadcasts to $idle connections, round $round of $rounds ..."
        for size in 64 1024; do
            measure_one "broadcast $size $round c" taskset -c "$load_core" "$work/fanout" -c "$idle" -s "$size" \
                -T "$seconds" -P "$c_pid" "$c_port"
            measure_one "broadcast $size $round duplex" taskset -c "$load_core" "$work/fanout" -c "$idle" -s "$size" \
                -T "$seconds" -p /all -P "$our_pid" "$our_port"
        done
    done
    stop "$c_pid"
    stop "$our_pid"
}

# One message compressed for all of them, beside a loop in C that gets it compressed.
measure_compressed_broadcast() {
    local round size=1024
    start_program tcp_fanout "$work/tcp_fanout" 0
    local c_pid=$pid c_port=$port
    start_serve broadcast-deflate --handler broadcast --compression on
    local our_pid=$pid our_port=$port
    for ((round = 1; round <= rounds; round++)); do
        note "Broadcasts with compression to $idle connections, round $round of $rounds ..."
        measure_one "compressedbroadcast $size $round c" taskset -c "$load_core" "$work/fanout" -z -c "$idle" -s "$size" \
            -T "$seconds" -P "$c_pid" "$c_port"
        measure_one "compressedbroadcast $size $round duplex" taskset -c "$load_core" "$work/fanout" -z -c "$idle" -s "$size" \
            -T "$seconds" -p /all -P "$our_pid" "$our_port"
    done
    stop "$c_pid"
    stop "$our_pid"
}

# A message each way that fills the windows of both, and then nothing more.
measure_compressed_memory() {
    local before line
    note "Memory of $idle idle connections with compression ..."
    start_serve memory-deflate --handler sync --compression on
    load -k -t -s 8192 -d 1 -n 1 -c 4 -T 20 -w 20 "$port" >/dev/null
    before=$(rss "$pid")
    line=$(load -k -t -s 8192 -d 1 -n 1 -c "$idle" -b 4 -T 20 -w 20 -P "$pid" "$port")
    echo "memory compressed connections=$idle before_kb=$before $line" >>"$results"
    stop "$pid"
}

# Each client by turns against the same server, which is cheaper than all of them.
measure_clients() {
    local round who url count
    start_duplex sync
    url=ws://127.0.0.1:$port/echo
    for ((round = 1; round <= few_rounds; round++)); do
        note "Clients, round $round of $few_rounds ..."
        for who in duplex "${peers[@]}"; do
            case "$who" in
            duplex)
                count=$(timed_bench "$url")
                ;;
            node) count=$(timed node Benchmarks/Peers/node_client.cjs "$url" 50 32 "$seconds") ;;
            python) count=$(timed "$peer_python" Benchmarks/Peers/python_client.py "$url" 50 32 "$seconds") ;;
            *) continue ;;
            esac
            add_client_time "client $round $who" "$count"
        done
    done
    stop "$pid"
}

# What a client pays for connecting again by itself, while it is connected: its sessions, and all of them as one socket,
# each right behind a plain socket in the same kind of task.
measure_reconnecting() {
    local round who url
    start_duplex sync
    url=ws://127.0.0.1:$port/echo
    for ((round = 1; round <= rounds; round++)); do
        note "Clients that reconnect, round $round of $rounds ..."
        for who in task sessions endless; do
            add_client_time "reconnecting $round $who" "$(timed_bench "$url" --client "$who")"
        done
    done
    stop "$pid"
}

# timed_bench URL ARGUMENTS...: echoes over 50 connections; prints how many there were.
timed_bench() {
    timed "$duplex" bench "$1" --connections 50 --size 32B --depth 1 --duration "${seconds}s" --warmup 0s --loops 1 \
        --json "${@:2}" | sed -nE 's/.*"messages":([0-9]+).*/\1/p'
}

# add_client_time NAME COUNT: adds what so many messages took of the client's time to the results.
add_client_time() {
    [ "${2:-0}" -gt 0 ] || fail "no message came back: $1."
    awk -v name="$1" -v count="$2" '{ printf "%s msgs=%d us_per_msg=%.3f\n", name, count,
        ($1 + $2) * 1e6 / count }' "$work/client.time" >>"$results"
}

# timed COMMAND...: runs a program on the core of the load, and leaves its user and system time in client.time.
timed() {
    local TIMEFORMAT="%3U %3S"
    { time NODE_PATH=/usr/share/nodejs:.build-peers/node/node_modules taskset -c "$load_core" "$@" 2>&3; } 3>&2 \
        2>"$work/client.time"
}

# Two runs that differ in their messages only: what a connection takes falls out of the difference.
measure_allocations() {
    local handler count=$work/allocations.txt counts totals length
    for handler in sync async; do
        note "Allocations, $handler ..."
        MALLOC_COUNT=$count LD_PRELOAD=$work/malloc_count.so start_duplex "$handler"
        load -s 32 -d 1 -c 10 -T 0.3 -w 0 "$port" >/dev/null
        counts=("$(allocations "$pid" "$count")")
        totals=()
        for length in 0.5 1.5; do
            totals+=("$(load -s 32 -d 1 -c 10 -T "$length" -w 0 "$port" | sed -nE 's/.* total=([0-9]+).*/\1/p')")
            counts+=("$(allocations "$pid" "$count")")
        done
        echo "allocations $handler count=$((counts[2] - 2 * counts[1] + counts[0])) messages=$((totals[1] - totals[0]))" \
            >>"$results"
        stop "$pid"
    done
}

# allocations PID FILE: how many there have been.
allocations() {
    rm -f "$2"
    kill -USR2 "$1"
    until [ -s "$2" ]; do sleep 0.02; done
    cat "$2"
}

# Connect, opening handshake, one echo, closing handshake, again.
measure_openings() {
    local round who
    declare -A ids ports
    start_duplex sync && ids[duplex]=$pid && ports[duplex]=$port
    for who in "${peers[@]}"; do start_peer "$who" && ids[$who]=$pid && ports[$who]=$port; done
    for ((round = 1; round <= few_rounds; round++)); do
        note "Connections opened and closed, round $round of $few_rounds ..."
        for who in "${!ids[@]}"; do
            measure_one "openings $round $who" taskset -c "$load_core" "$work/tcp_load" -j --connect-rate \
                --websocket /echo -c 50 -T "$seconds" -w 0.3 -P "${ids[$who]}" "${ports[$who]}"
        done
    done
    for who in "${!ids[@]}"; do stop "${ids[$who]}"; done
}
