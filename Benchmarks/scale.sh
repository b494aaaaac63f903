# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
#
# What scripts/bench measures of very many connections: what a message of 50 that are active costs beside 50, 1,000, 10,000 and
# 100,000 that are idle, the memory of each, how long it takes to accept, ping, broadcast to and close the most of them, and how long
# the event loop's longest turn was meanwhile. Read by scripts/bench, whose functions it uses.

# How many connections are idle; no more than a process may have descriptors.
idle_counts=(50 1000 10000 100000)
# Descriptors that a process has for other things, and connections that are active.
reserved_descriptors=400

# await_word FILE WORD PID SECONDS: waits until the file has a line that begins with the word.
await_word() {
    local deadline=$((SECONDS + $4))
    until grep -q "^$2 " "$1"; do
        kill -0 "$3" 2>/dev/null || fail "what writes $1 ended before it came to \"$2\"; see $1.err."
        [ "$SECONDS" -lt "$deadline" ] || fail "$1 has no \"$2\" after $4 seconds."
        sleep 0.05
    done
}

# start_crowd NAME CONNECTIONS PATH: opens so many WebSockets at $port, and waits until they are open; sets crowd and crowd_output.
start_crowd() {
    crowd_output=$work/crowd-$1.out
    : >"$crowd_output"
    taskset -c "$load_core" "$work/crowd" -c "$2" -b 64 -p "$3" "$port" >>"$crowd_output" 2>"$crowd_output.err" &
    crowd=$!
    children+=("$crowd")
    await_word "$crowd_output" open "$crowd" 300
}

# crowd_seconds WORD: how long the last round of that took.
crowd_seconds() { sed -nE "s/^$1 .*secs=//p" "$crowd_output" | tail -n 1; }

# What this machine lets a process have.
scale_counts() {
    local most=$(($(ulimit -n) - reserved_descriptors)) count
    counts=()
    for count in "${idle_counts[@]}"; do
        if $quick && [ "$count" -gt 1000 ]; then break; fi
        if [ "$count" -gt "$most" ]; then
            note "A process may have $(ulimit -n) descriptors here: $most connections in place of $count."
            counts+=("$most")
            break
        fi
        counts+=("$count")
    done
}

# All servers and their idle connections are there at the same time: one round measures each beside the others.
measure_scale() {
    local counts round count before
    declare -A ids ports crowds
    scale_counts
    for count in "${counts[@]}"; do
        note "$count idle connections ..."
        start_serve "scale-$count" --handler sync && ids[$count]=$pid && ports[$count]=$port
        before=$(rss "$pid")
        start_crowd "$count" "$count" /echo && crowds[$count]=$crowd
        echo "scale memory $count before_kb=$before rss_kb=$(rss "$pid")" >>"$results"
    done
    for ((round = 1; round <= rounds; round++)); do
        note "Messages beside idle connections, round $round of $rounds ..."
        for count in "${counts[@]}"; do
            echo "scale cost $count $round $(load -s 32 -d 1 -c 50 -T "$seconds" -w 0.3 -P "${ids[$count]}" "${ports[$count]}")" \
                >>"$results"
        done
    done
    for count in "${counts[@]}"; do
        stop "${crowds[$count]}"
        stop "${ids[$count]}"
    done
    measure_turns "${counts[-1]}"
}

# turns PID: what the longest turn was since it was asked the last time.
turns() {
    rm -f "$work/turns.txt"
    kill -USR2 "$1"
    until [ -s "$work/turns.txt" ]; do sleep 0.02; done
    cat "$work/turns.txt"
}

# measure_turns CONNECTIONS
measure_turns() {
    local count=$1 round
    note "Accepting $count connections ..."
    TURNS=$work/turns.txt LD_PRELOAD=$work/turns.so start_program scale "$duplex_topics" scale
    turns "$pid" >/dev/null
    start_crowd turns "$count" /crowd
    echo "scale turns accept $count secs=$(crowd_seconds open) $(turns "$pid")" >>"$results"
    note "Pinging them ..."
    curl -sS "http://127.0.0.1:$port/ping" >"$work/scale.txt"
    await_word "$crowd_output" pings "$crowd" 60
    grep -q "^pinged=$count " "$work/scale.txt" || fail "not all have answered their pings: $(cat "$work/scale.txt")"
    echo "scale turns ping $count secs=$(sed 's/.*secs=//' "$work/scale.txt") $(turns "$pid")" >>"$results"
    note "Broadcasting to them ..."
    for ((round = 1; round <= rounds; round++)); do
        : >"$crowd_output"
        curl -sS "http://127.0.0.1:$port/say" >/dev/null
        await_word "$crowd_output" messages "$crowd" 60
        echo "scale turns broadcast $count secs=$(crowd_seconds messages) $(turns "$pid")" >>"$results"
    done
    note "Closing them ..."
    rm -f "$work/turns.txt"
    kill -TERM "$pid"
    await_word "$crowd_output" closes "$crowd" 120
    wait "$pid" || fail "the server ended with status $?."
    echo "scale turns close $count secs=$(crowd_seconds closes) $(cat "$work/turns.txt")" >>"$results"
    wait "$crowd" || fail "the connections ended with an error; see $crowd_output.err."
}
