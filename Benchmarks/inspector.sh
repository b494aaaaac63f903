# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
#
# What scripts/bench measures of the inspector: what an echo and an HTTP request cost a server that has one, while nobody looks
# and while somebody watches another connection; and memory while a connection is watched. Read by scripts/bench, whose functions it uses.

# Servers in the order of a round; the one without comes first and last in turns.
inspector_servers=(without nobody viewer)

# start_viewer PORT TOKEN: somebody who watches the frames of a connection of its own.
start_viewer() {
    "$peer_python" Benchmarks/Peers/inspector_viewer.py "$1" "$2" >"$work/viewer.out" 2>"$work/viewer.err" &
    viewer=$!
    children+=("$viewer")
    await_line "$work/viewer.out" "$viewer"
}

# inspector_token NAME: the token that a server has printed behind its port.
inspector_token() {
    local deadline=$((SECONDS + 20))
    until grep -q 'token=' "$work/serve-$1.out"; do [ $SECONDS -lt $deadline ] || fail "$1 prints no token."; done
    sed -nE 's/.*token=([0-9a-f]+).*/\1/p' "$work/serve-$1.out" | head -n 1
}

measure_inspector() {
    local round who order viewer size
    declare -A ids ports
    start_serve without --handler sync && ids[without]=$pid && ports[without]=$port
    start_serve nobody --handler sync --inspect && ids[nobody]=$pid && ports[nobody]=$port
    start_serve viewer --handler sync --inspect && ids[viewer]=$pid && ports[viewer]=$port
    start_viewer "${ports[viewer]}" "$(inspector_token viewer)"
    for ((round = 1; round <= rounds; round++)); do
        note "The inspector, round $round of $rounds ..."
        order=("${inspector_servers[@]}")
        if ((round % 2)); then order=(viewer nobody without); fi
        for size in 32 1024; do
            for who in "${order[@]}"; do
                measure_one "inspector $size $round $who" taskset -c "$load_core" "$work/wsload" -j -p /echo \
                    -s "$size" -d 16 -c 50 -T "$seconds" -w 0.3 -P "${ids[$who]}" "${ports[$who]}"
            done
        done
        for who in "${order[@]}"; do
            measure_one "inspector request $round $who" taskset -c "$load_core" "$work/http_load" -j -c 50 -d 16 \
                -p /hello -T "$seconds" -w 0.3 -P "${ids[$who]}" "${ports[$who]}"
        done
    done
    stop "$viewer"
    measure_watched
    for who in "${inspector_servers[@]}"; do stop "${ids[$who]}"; done
}

# Memory of a server whose busiest connection is watched, from the first seconds to the last.
measure_watched() {
    local early late
    "$peer_python" Benchmarks/Peers/inspector_viewer.py "${ports[nobody]}" "$(inspector_token nobody)" \
        --busiest >"$work/watched.out" 2>"$work/watched.err" &
    viewer=$!
    children+=("$viewer")
    load -s 32 -d 64 -c 1 -T 3 -w 0 "${ports[nobody]}" >/dev/null
    early=$(rss "${ids[nobody]}")
    load -s 32 -d 64 -c 1 -T 20 -w 0 -P "${ids[nobody]}" "${ports[nobody]}" >"$work/watched.load"
    late=$(rss "${ids[nobody]}")
    stop "$viewer"
    echo "watched frames 1 duplex early_kb=$early late_kb=$late $(tail -n 1 "$work/watched.out") $(cat "$work/watched.load")" >>"$results"
}
