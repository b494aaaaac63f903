# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
#
# What scripts/bench measures of files: those that are sent, from the system's cache, and such that are put on the disk,
# beside nginx. Read by scripts/bench, whose functions it uses, and those of web.sh.

# Adds to what web.sh has made.
make_file_folder() {
    mkdir -p "$web/put/duplex" "$web/put/nginx"
    head -c 1024 "$web/1m" >"$web/1k"
    if [ ! -e "$web/1g" ]; then
        for _ in {1..1024}; do cat "$web/1m"; done >"$web/1g"
    fi
    # What is put is put in the place of something.
    cp "$web/1m" "$web/put/duplex/1m"
    cp "$web/1m" "$web/put/nginx/1m"
}

# start_file_nginx: sends files as its makers advise: by sendfile(2), kept open, heads with what follows; takes them by its
# DAV module. Sets pid and port, or fails.
start_file_nginx() {
    command -v nginx >/dev/null 2>&1 || return 1
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    cat >"$work/nginx-files.conf" <<END
daemon off;
master_process off;
user $(id -un);
pid $PWD/$work/nginx-files.pid;
error_log $PWD/$work/nginx-files.err crit;
events { worker_connections 4096; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path $PWD/$work/nginx-files-body;
    server {
        listen 127.0.0.1:$port;
        location /files/ {
            alias $PWD/$web/;
            sendfile on;
            tcp_nopush on;
            open_file_cache max=1000 inactive=20s;
            open_file_cache_valid 1s;
        }
        location /dav/ {
            alias $PWD/$web/put/nginx/;
            dav_methods PUT;
            client_max_body_size 0;
        }
    }
}
END
    run_nginx nginx-files
}

# The cells: a name, and what the load does.
file_runs=(
    "1k -c 50 -p /files/1k -s 1024"
    "100k -c 8 -p /files/100k -s 102400"
    "1m -c 8 -p /files/1m -s $web_bytes"
    "put-1m -c 8 -p /dav/1m -R -u $web_bytes"
)

# With both in each round, the one that comes first in turns.
measure_files() {
    local round run name arguments who order before own ticks count=4
    declare -A file_ids file_ports
    make_file_folder
    ticks=$(getconf CLK_TCK)
    start_program web-files "$duplex_web" "$web" && file_ids[duplex]=$pid && file_ports[duplex]=$port
    if start_file_nginx; then
        file_ids[nginx]=$pid && file_ports[nginx]=$port
    else
        note "nginx isn't there, or doesn't run: scripts/setup --tests installs it."
    fi
    for ((round = 1; round <= rounds; round++)); do
        note "Files, round $round of $rounds ..."
        order=(duplex nginx)
        if ((round % 2)); then order=(nginx duplex); fi
        for run in "${file_runs[@]}"; do
            read -r name arguments <<<"$run"
            for who in "${order[@]}"; do
                [ -n "${file_ids[$who]:-}" ] || continue
                # shellcheck disable=SC2086 # the arguments are meant to be split
                measure_one "file $name $round $who" taskset -c "$load_core" "$work/http_load" -j $arguments \
                    -T "$web_seconds" -w 0.3 -P "${file_ids[$who]}" "${file_ports[$who]}"
            done
        done
        # Too few in a second for the clock to count them.
        for who in "${order[@]}"; do
            [ -n "${file_ids[$who]:-}" ] || continue
            before=$(cpu_ticks "${file_ids[$who]}")
            for ((run = 0; run < count; run++)); do
                taskset -c "$load_core" curl -sS --fail -o /dev/null "http://127.0.0.1:${file_ports[$who]}/files/1g"
            done
            own=$(awk "BEGIN { print ($(cpu_ticks "${file_ids[$who]}") - $before) * 1000000 / $ticks / $count }")
            echo "file 1g $round $who srv_us_per_msg=$own" >>"$results"
        done
    done
    for who in "${!file_ids[@]}"; do stop "${file_ids[$who]}"; done
}
