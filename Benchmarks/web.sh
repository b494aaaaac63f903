# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
#
# What scripts/bench measures of the web server: small answers, JSON, bodies both ways, compression, events; bare and with
# access log, metrics and limits; beside a loop in C, nginx and the libraries of others. Read by scripts/bench, whose
# functions it uses.

web_bytes=1048576
# uWebSockets with an interface for C is in a Python package: what is fetched of it, and what that must be.
uws_version=0.0.31
uws_digest=7502bed5b382e75f04ea3c6d6b53b76f27bb8653740db92e3f2b55fab388df20

build_web() {
    note "Building the web server that is measured ..."
    nice swift build -c release --package-path Benchmarks/Web --scratch-path "$work/web" >"$work/web.log" 2>&1 ||
        fail "the build failed:" "$(tail -n 20 "$work/web.log")"
    duplex_web=$work/web/release/duplex-web
}

# build_uws: fetches uWebSockets, once, and builds the server with it; notes why not where that can't be.
build_uws() {
    local folder=$work/uws python=python3
    local archive=$folder/socketify-$uws_version.tar.gz inside=socketify-$uws_version/src/socketify
    uws_server=$folder/uws_server
    if [ "$(uname -m)" != x86_64 ]; then
        note "uWebSockets is left out: the package that has it has none for $(uname -m)."
        return
    fi
    mkdir -p "$folder"
    if [ ! -e "$archive" ]; then
        note "Fetching uWebSockets ..."
        if [ -x "$peer_python" ]; then python=$peer_python; fi
        echo "socketify==$uws_version --hash=sha256:$uws_digest" >"$folder/requirements.txt"
        if ! "$python" -m pip download --no-deps --no-binary :all: --require-hashes --dest "$folder" \
            -r "$folder/requirements.txt" >"$folder/fetch.log" 2>&1; then
            note "uWebSockets is left out: it can't be fetched; see $folder/fetch.log."
            return
        fi
    fi
    # An archive from an earlier time is looked at as well.
    if ! echo "$uws_digest  $archive" | sha256sum --check --status; then
        note "uWebSockets is left out: $archive isn't the one that is known here."
        return
    fi
    tar -xzf "$archive" -C "$folder" "$inside/libsocketify_linux_amd64.so"
    if ! cc -O2 -Wall -o "$uws_server" Benchmarks/Peers/uws_server.c -L"$folder/$inside" \
        -l:libsocketify_linux_amd64.so -Wl,-rpath,"$PWD/$folder/$inside" >"$folder/build.log" 2>&1; then
        note "uWebSockets is left out: see $folder/build.log (it needs libuv, apt: libuv1)."
        rm -f "$uws_server"
    fi
}

# What is sent: JSON of 1 KiB, as short as it can be written, text like a page's, and bytes.
make_web_folder() {
    web=$work/web-files
    mkdir -p "$web"
    python3 - "$web" <<'END'
import json, random, sys
from pathlib import Path

folder, numbers = Path(sys.argv[1]), random.Random(1)
items = [{"id": i, "name": f"item {i}", "price": i + 0.5, "tags": ["one", "two"]} for i in range(1000, 1015)]
compact = lambda: json.dumps(items, sort_keys=True, separators=(",", ":"))
items[0]["name"] += "x" * (1024 - len(compact()))
(folder / "items.json").write_text(compact())
words = "the of and to a in server request body answer connection client time bytes header route event".split()
text = " ".join(f"{numbers.choice(words)}{numbers.choice(['', '', ', <b>', '</b>', '.'])}" for _ in range(20000))
(folder / "text.txt").write_text(text[:65536])
for name, size in (("100k", 100 << 10), ("1m", 1 << 20)):
    (folder / name).write_bytes(numbers.randbytes(size))
(folder / "zip").mkdir(exist_ok=True)
(folder / "zip" / "256m.bin").write_bytes(b"".join(numbers.randbytes(1 << 20) for _ in range(256)))
(folder / "zip" / "64m.txt").write_text("".join(
    f"{numbers.choice(words)}{numbers.choice(['', '', ', ', '.'])} {numbers.randrange(1000)} " for _ in range(8_000_000)
)[: 64 << 20])
END
    : >"$web/access.log"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 30 \
        -keyout "$work/web-key.pem" -out "$work/web-cert.pem" 2>"$work/openssl.err" ||
        fail "there is no certificate:" "$(cat "$work/openssl.err")"
}

# start_nginx NAME [LOG [tls]]: starts a server that answers by itself, in one process; sets pid and port, or fails without one.
#
# Of an upload it reads past what comes; pages are compressed as hard as Duplex does it. With a log it is watched as Duplex is:
# it logs to that file, counts requests (stub_status, which counts whether it is asked or not), and holds each client to a rate
# and a number of connections that nobody reaches. `return` would answer before those limits are looked at, so the request is
# refused behind them, and the answer stands in the place of the refusal.
start_nginx() {
    command -v nginx >/dev/null 2>&1 || return 1
    local name=$1 log=${2:-off} zones="" limits="" watched="" secured=""
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    if [ "$log" != off ]; then
        watched="deny all; error_page 403 = "
        limits="limit_req zone=rate burst=1000000 nodelay; limit_conn connections 65535;"
        limits+=" location = /status { stub_status; }"
        zones="limit_req_zone \$binary_remote_addr zone=rate:10m rate=1000000r/s;"
        zones+=" limit_conn_zone \$binary_remote_addr zone=connections:10m;"
    fi
    if [ "${3:-}" = tls ]; then
        secured="ssl; ssl_protocols TLSv1.3; ssl_certificate $PWD/$work/web-cert.pem; ssl_certificate_key $PWD/$work/web-key.pem"
    fi
    # nginx_location PATH ANSWER: answers with that, behind the limits where there are any.
    nginx_location() {
        if [ -z "$watched" ]; then
            echo "location $1 { $2 }"
        else
            echo "location $1 { client_max_body_size 0; $watched@${1#/}; } location @${1#/} { $2 }"
        fi
    }
    cat >"$work/$name.conf" <<END
daemon off;
master_process off;
pid $PWD/$work/$name.pid;
error_log $PWD/$work/$name.err crit;
events { worker_connections 4096; }
http {
    access_log $log;
    $zones
    keepalive_requests 1000000000;
    client_body_temp_path $PWD/$work/nginx-body;
    server {
        listen 127.0.0.1:$port $secured;
        $limits
        $(nginx_location /hello 'default_type text/plain; return 200 "Hello, World!";')
        $(nginx_location /json "default_type application/json; return 200 '$(cat "$web/items.json")';")
        $(nginx_location /json-ready "default_type application/json; return 200 '$(cat "$web/items.json")';")
        $(nginx_location /count "client_max_body_size 0; default_type text/plain; return 200 \"$web_bytes\";")
        location /text { default_type text/plain; alias $PWD/$web/text.txt; gzip on; gzip_types *; gzip_comp_level 6; }
        location / { root $PWD/$web; sendfile on; }
    }
}
END
    run_nginx "$name"
}

# run_nginx NAME: runs nginx with $work/NAME.conf on the server's core, and waits until it listens on $port.
run_nginx() {
    taskset -c "$server_core" nginx -c "$PWD/$work/$1.conf" -e "$PWD/$work/$1.err" >/dev/null 2>&1 &
    pid=$!
    children+=("$pid")
    local deadline=$((SECONDS + 5))
    until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        kill -0 "$pid" 2>/dev/null && [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

# The cells: a name, those that have it, and what the load does.
web_runs=(
    "hello c,duplex,watched,nginx,nginx-watched,nginx-unbuffered,uws,hummingbird,flyingfox -c 50 -p /hello"
    "hello-16 c,duplex,watched,nginx,nginx-watched,nginx-unbuffered,uws,hummingbird,flyingfox -c 50 -d 16 -p /hello"
    "json-ready duplex,watched,nginx,nginx-watched,nginx-unbuffered,uws -c 50 -p /json-ready -s 1024"
    "json duplex,watched,nginx,nginx-watched,nginx-unbuffered,hummingbird,flyingfox -c 50 -p /json -s 1024"
    "upload-1m duplex,watched,nginx,nginx-watched,nginx-unbuffered,uws,hummingbird,flyingfox -c 8 -p /count -u $web_bytes -B $web_bytes"
    "download-100k duplex,watched,nginx,nginx-watched,nginx-unbuffered,hummingbird,flyingfox -c 8 -p /100k -s 102400"
    "download-1m duplex,watched,nginx,nginx-watched,nginx-unbuffered,hummingbird,flyingfox -c 8 -p /1m -s $web_bytes"
    "gzip-64k duplex,watched,nginx,nginx-watched,nginx-unbuffered -c 8 -p /text -z 65536"
    "https-hello duplex-tls,nginx-tls -t -c 50 -p /hello"
    "https-100k duplex-tls,nginx-tls -t -c 8 -p /100k -s 102400"
)

# Starts everybody that is here; sets web_ids and web_ports.
start_web_servers() {
    start_program http_hello "$work/http_hello" 0 && web_ids[c]=$pid && web_ports[c]=$port
    start_program web "$duplex_web" "$web" && web_ids[duplex]=$pid && web_ports[duplex]=$port
    start_program web-watched "$duplex_web" "$web" --log --metrics --limits &&
        web_ids[watched]=$pid && web_ports[watched]=$port
    start_program web-tls "$duplex_web" "$web" --tls "$work/web-cert.pem" "$work/web-key.pem" &&
        web_ids[duplex-tls]=$pid && web_ports[duplex-tls]=$port
    # As Duplex does it, 64 KiB at a time or soon; and line by line, which is how nginx does it without being told.
    local log=$PWD/$web/nginx.log
    if start_nginx nginx; then
        web_ids[nginx]=$pid && web_ports[nginx]=$port
        start_nginx nginx-watched "$log combined buffer=64k flush=1s" &&
            web_ids[nginx-watched]=$pid && web_ports[nginx-watched]=$port
        start_nginx nginx-unbuffered "$log.unbuffered combined" &&
            web_ids[nginx-unbuffered]=$pid && web_ports[nginx-unbuffered]=$port
        start_nginx nginx-tls off tls && web_ids[nginx-tls]=$pid && web_ports[nginx-tls]=$port
    else
        note "nginx isn't there, or doesn't run: scripts/setup --tests installs it."
    fi
    if [ -x "$uws_server" ]; then
        start_program uws "$uws_server" "$web" && web_ids[uws]=$pid && web_ports[uws]=$port
    fi
    if $quick || [ ! -x "$rival_folder/release/flyingfox-echo" ]; then return; fi
    start_program hummingbird "$rival_folder/release/hummingbird-hello" "$web" &&
        web_ids[hummingbird]=$pid && web_ports[hummingbird]=$port
    start_program flyingfox "$rival_folder/release/flyingfox-echo" "$web" &&
        web_ids[flyingfox]=$pid && web_ports[flyingfox]=$port
}

# With everybody in each round. What the servers do over TLS has rows of its own, and so their own names there.
measure_web() {
    local round run name known arguments who
    declare -A web_ids web_ports
    start_web_servers
    for ((round = 1; round <= few_rounds; round++)); do
        note "The web server, round $round of $few_rounds ..."
        for run in "${web_runs[@]}"; do
            read -r name known arguments <<<"$run"
            for who in ${known//,/ }; do
                [ -n "${web_ids[$who]:-}" ] || continue
                # shellcheck disable=SC2086 # the arguments are meant to be split
                measure_one "web $name $round ${who%-tls}" taskset -c "$load_core" "$work/http_load" -j $arguments \
                    -T "$web_seconds" -w 0.3 -P "${web_ids[$who]}" "${web_ports[$who]}"
            done
        done
    done
    for who in "${!web_ids[@]}"; do stop "${web_ids[$who]}"; done
    measure_zip
    measure_events
}

# cpu_ticks PID: how much time of a processor a process has had.
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# A zip that is streamed while it is made, against Info-ZIP's into a pipe: the time of the processor alone, for each MiB.
measure_zip() {
    local round name file mebibytes level own before query ticks TIMEFORMAT='%U %S'
    if ! command -v zip >/dev/null 2>&1; then
        note "zip isn't there: zips are not measured."
        return
    fi
    ticks=$(getconf CLK_TCK)
    start_program web-zip "$duplex_web" "$web"
    for ((round = 1; round <= few_rounds; round++)); do
        note "Zips, round $round of $few_rounds ..."
        for name in "stored 256m.bin 256 -0" "deflated 64m.txt 64 -6"; do
            read -r name file mebibytes level <<<"$name"
            query="path=zip/$file&method=$name"
            before=$(cpu_ticks "$pid")
            taskset -c "$load_core" curl -sS --fail -o /dev/null "http://127.0.0.1:$port/zip?$query"
            own=$(awk "BEGIN { print ($(cpu_ticks "$pid") - $before) * 1000000 / $ticks / $mebibytes }")
            echo "zip $name $round duplex srv_us_per_msg=$own" >>"$results"
            { time taskset -c "$server_core" zip "$level" -q - "$web/zip/$file"; } 2>"$work/zip.times" |
                taskset -c "$load_core" cat >/dev/null
            own=$(awk "{ print (\$1 + \$2) * 1000000 / $mebibytes }" "$work/zip.times")
            echo "zip $name $round zip srv_us_per_msg=$own" >>"$results"
        done
    done
    stop "$pid"
}

# One feed to all connections, against the loop that sends the same bytes.
measure_events() {
    local round who
    declare -A ids ports
    start_program tcp_fanout "$work/tcp_fanout" 0 && ids[c]=$pid && ports[c]=$port
    start_program web "$duplex_web" "$web" && ids[duplex]=$pid && ports[duplex]=$port
    for ((round = 1; round <= few_rounds; round++)); do
        note "Events to $idle connections, round $round of $few_rounds ..."
        for who in c duplex; do
            local path=(-p /feed)
            if [ "$who" = c ]; then path=(); fi
            measure_one "web events $round $who" taskset -c "$load_core" "$work/fanout" -e -c "$idle" -s 64 \
                "${path[@]}" -T "$web_seconds" -P "${ids[$who]}" "${ports[$who]}"
        done
    done
    for who in "${!ids[@]}"; do stop "${ids[$who]}"; done
}
