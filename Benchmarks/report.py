#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Turns what scripts/bench measured into Markdown tables.

    report.py RESULTS                prints them
    report.py RESULTS --into FILE    puts them into FILE, between the lines <!-- bench:begin --> and <!-- bench:end -->
"""

import statistics
import sys
from pathlib import Path

BEGIN = "<!-- bench:begin -->"
END = "<!-- bench:end -->"

HANDLERS = ("sync", "async")

# What each handler is to reach: the CPU time per message of the C echo divided by that of the server.
CPU_TARGETS = {
    ("32", "1"): {"sync": 0.97, "async": 0.90},
    ("32", "16"): {"sync": 0.96, "async": 0.70},
    ("1024", "1"): {"sync": 0.96, "async": 0.92},
    ("65536", "1"): {"sync": 0.92, "async": 0.82},
}
# What streams are to reach: what is compared, the title, and the least ratio to the limit in C.
STREAM_TARGETS = {
    "tcp-32B": ("srv_us_per_msg", "TCP echo through Socket, 32 B, depth 1", 0.85),
    "tcp-64KiB": ("srv_us_per_msg", "TCP echo through Socket, 64 KiB, depth 1", 0.90),
    "tls-64KiB": ("srv_us_per_msg", "TLS 1.3 echo, 64 KiB, depth 1", 0.85),
    "tls-handshakes": ("rate", "TLS 1.3 handshakes each second", 0.90),
    "tcp-accepts": ("rate", "connections accepted each second", 0.80),
}
# Requests: the CPU time of a GET with the C loop that answers fixed bytes divided by ours, at each depth.
REQUEST_TARGETS = {"1": {"sync": 0.90, "async": 0.85}, "16": {"sync": 0.65, "async": 0.45}}
# How much cheaper than the server of a library of others an echo with compression is to be, for each size.
DEFLATE_TARGETS = {"1024": {"node": 12.0, "python": 5.0}, "65536": {"node": 5.0, "python": 5.0}}
# The share of the server's time outside the system that goes into the compressor.
COMPRESSOR_TARGET = 0.85
# A broadcast: the CPU time per delivery of a loop in C that sends the same bytes divided by ours.
BROADCAST_TARGET = 0.92
# The same with compression, by connections that keep their windows: the loop in C sends the compressed bytes.
COMPRESSED_BROADCAST_TARGET = 0.80
# A topic with many subscribers: as a broadcast.
TOPICS_TARGET = 0.90
# The time within which 99 % of deliveries come while a tenth of the subscribers never receive, divided by that without them.
STALLED_TARGET = 1.2
# What one node publishes and another gets of it by Redis in a second, over what Redis takes of redis-benchmark.
BETWEEN_TARGET = 0.80
# Bytes of memory of a subscription, and of a topic.
SUBSCRIPTION_TARGET = 120
TOPIC_TARGET = 300
# What a message costs beside very many idle connections over what it costs beside the fewest: at most this.
SCALE_TARGET = 1.10
# The longest turn of a loop while it accepts, pings, broadcasts to and closes very many, in milliseconds of its time.
TURN_TARGET = 50
SCALE_TITLES = {
    "accept": "accepting {} connections",
    "ping": "pinging {}, until the last has answered",
    "broadcast": "a broadcast to {}, until the last has it",
    "close": "closing {} in 20 batches over 2 s",
}
# The CPU time of a message on a client that reconnects by itself, divided by that of a plain one: at most this.
RECONNECTING_TARGET = 1.05
# Allocations for each message.
ALLOCATION_TARGETS = {"sync": 0.0}

NAMES = {
    "sync": "**Duplex**, synchronous handler",
    "async": "**Duplex**, `async` handler",
    "duplex": "**Duplex**",
    "node": "ws (Node)",
    "python": "websockets (Python)",
    "nio": "NIOWebSocket (Swift)",
    "flyingfox": "FlyingFox (Swift)",
    "nginx": "nginx, `return 200`",
    "hummingbird": "Hummingbird (Swift)",
}

# The web server: each cell by its name in the results, and whom a cell is compared with.
WEB_TITLES = {
    "hello": "GET of 13 bytes, depth 1",
    "hello-16": "GET of 13 bytes, depth 16",
    "json-ready": "JSON of 1 KiB, a ready text",
    "json": "JSON of 1 KiB, encoded each time (by nginx not)",
    "upload-1m": "upload of 1 MiB",
    "download-100k": "file of 100 KiB",
    "download-1m": "file of 1 MiB",
    "gzip-64k": "text of 64 KiB, in gzip",
    "https-hello": "GET of 13 bytes, depth 1, over TLS 1.3",
    "https-100k": "file of 100 KiB, over TLS 1.3",
    "events": "event to 10,000 clients",
}
# Files: each cell by its name in the results, its title, and the least ratio of nginx's time to ours.
FILE_TARGETS = {
    "1k": ("file of 1 KiB", 0.90),
    "100k": ("file of 100 KiB", 1.0),
    "1m": ("file of 1 MiB", 1.0),
    "1g": ("file of 1 GiB", 1.0),
    "put-1m": ("PUT of 1 MiB to the disk, beside nginx's DAV module", 0.90),
}
# Whose time is compared with whose: the limit first. "Watched" is with an access log, metrics and limits.
WEB_PAIRS = (
    ("c", "duplex", "C / **Duplex**"),
    ("nginx", "duplex", "nginx / **Duplex**"),
    ("nginx", "watched", "nginx / Duplex watched"),
    ("nginx-watched", "watched", "nginx watched / Duplex watched"),
    ("nginx-unbuffered", "watched", "nginx watched, log unbuffered / Duplex watched"),
    ("nginx", "uws", "nginx / uWebSockets"),
    ("nginx", "hummingbird", "nginx / Hummingbird"),
    ("nginx", "flyingfox", "nginx / FlyingFox"),
)

# KiB for each idle connection; of a compressed one after messages that have filled its windows.
MEMORY_TARGETS = {"sync": 0.6, "async": 1.8, "compressed": 9.0}
# KiB between the early and the late cycle.
GROWTH_TARGET = 512
# KiB that a connection adds which takes 1 GiB and sends 1 GiB.
BODIES_TARGET = 2048
# How far from one call per message counts as one: each connection also begins and ends once.
CALL_TOLERANCE = 0.01

# The calls of a message, and the ones that there must not be: a futex wakes a thread, an eventfd is read and written.
EXPECTED_CALLS = ("recvfrom", "sendto")
UNWANTED_CALLS = ("futex", "read", "write")


def fields(words):
    """The key=value pairs among the words."""
    return dict(word.split("=", 1) for word in words if "=" in word)


class Results:
    """What a results file says."""

    def __init__(self, lines):
        self.machine = []
        self.echoes = {}  # (size, depth, connections) -> round -> who -> fields
        self.streams = {}  # name -> round -> who -> fields
        self.peers = {}  # (size, depth, connections) -> round -> who -> fields
        self.rounds = {}  # kind -> name -> round -> who -> fields, of what is compared in rounds
        self.compressor = {}  # size -> fields
        self.allocations = {}
        self.memory = {}
        self.growth = {}
        self.bodies = {}
        self.calls = {}
        self.scale = {"memory": {}, "cost": {}, "turns": {}}  # kind -> name -> list of fields
        for line in lines:
            kind, _, rest = line.partition(" ")
            if kind == "machine":
                self.machine = [part.strip() for part in rest.split("|")]
            elif kind in ("echo", "peer"):
                number, size, depth, connections, who, *words = rest.split()
                kinds = self.echoes if kind == "echo" else self.peers
                rounds = kinds.setdefault((size, depth, connections), {})
                rounds.setdefault(int(number), {})[who] = fields(words)
            elif kind == "stream":
                name, number, who, *words = rest.split()
                self.streams.setdefault(name, {}).setdefault(int(number), {})[who] = fields(words)
            elif kind in ("deflate", "secured", "broadcast", "compressedbroadcast", "request", "web", "zip", "file", "inspector", "watched",
                          "topics", "stalled", "many", "between", "topicmemory"):
                name, number, who, *words = rest.split()
                rounds = self.rounds.setdefault(kind, {}).setdefault(name, {})
                rounds.setdefault(int(number), {})[who] = fields(words)
            elif kind in ("client", "reconnecting", "openings"):
                number, who, *words = rest.split()
                rounds = self.rounds.setdefault(kind, {}).setdefault("", {})
                rounds.setdefault(int(number), {})[who] = fields(words)
            elif kind == "scale":
                what, name, *words = rest.split()
                self.scale[what].setdefault(name, []).append({"count": words[0], **fields(words)})
            else:
                handler, *words = rest.split()
                getattr(self, kind)[handler] = fields(words)


def verdict(is_reached):
    return "reached" if is_reached else "**missed**"


def table(header, rows):
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def size_text(size):
    count = int(size)
    return f"{count} B" if count < 1024 else f"{count // 1024} KiB"


def cost(run):
    return float(run["srv_us_per_msg"])


def rate(run):
    return float(run["rate"])


def ratio_text(ratios):
    return f"{statistics.median(ratios):.2f} <sub>{min(ratios):.2f}–{max(ratios):.2f}</sub>"


def echo_row(configuration, rounds, handler):
    size, depth, connections = configuration
    # Pair by pair within a round: what disturbed the machine then disturbed both.
    pairs = [(round_["c"], round_[handler]) for round_ in rounds.values()]
    cpu = [cost(limit) / cost(ours) for limit, ours in pairs]
    rates = [rate(ours) / rate(limit) for limit, ours in pairs]
    target = CPU_TARGETS[size, depth][handler]
    absolute = [statistics.median(cost(run) for run in side) for side in zip(*pairs)]
    return (
        f"{size_text(size)}, depth {depth}, {connections} connections",
        handler,
        ratio_text(cpu),
        f"{target:.2f} {verdict(round(statistics.median(cpu), 2) >= target)}",
        ratio_text(rates),
        f"<sub>{absolute[0]:.2f} · {absolute[1]:.2f}</sub>",
    )


def echo_table(results):
    header = ("echo", "handler", "CPU: C / Duplex", "target", "rate: Duplex / C", "<sub>µs: C · Duplex</sub>")
    rows = [
        echo_row(configuration, rounds, handler)
        for configuration, rounds in results.echoes.items()
        for handler in HANDLERS
    ]
    return table(header, rows)


def stream_ratio(key, pair):
    limit, ours = float(pair["c"][key]), float(pair["duplex"][key])
    # Of time less is better, of rates more.
    return ours / limit if key == "rate" else limit / ours


def stream_row(name, rounds):
    key, title, target = STREAM_TARGETS[name]
    ratios = [stream_ratio(key, pair) for pair in rounds.values()]
    what = "rate: Duplex / C" if key == "rate" else "CPU: C / Duplex"
    reached = verdict(round(statistics.median(ratios), 2) >= target)
    return (title, what, ratio_text(ratios), f"{target:.2f} {reached}")


def stream_table(results):
    rows = [stream_row(name, rounds) for name, rounds in results.streams.items()]
    return table(("stream", "what", "ratio", "target"), rows)


def request_cell(rounds, depth, who):
    found = ratios(rounds, who, "c", cost)
    if not found:
        return "–"
    target = REQUEST_TARGETS.get(depth, {}).get(who)
    text = ratio_text(found)
    return text if target is None else f"{text} {target:.2f} {verdict(round(statistics.median(found), 2) >= target)}"


def request_table(results):
    """How near each server comes to the C loop that answers fixed bytes: its time per request over theirs."""
    depths = results.rounds.get("request", {})
    everybody = [who for who in NAMES if any(who in round_ for rounds in depths.values() for round_ in rounds.values())]
    rows = [
        (NAMES[who], *(request_cell(rounds, depth, who) for depth, rounds in depths.items())) for who in everybody
    ]
    titles = [f"depth {depth}" for depth in depths]
    return table(("GET of 13 bytes, 50 connections: CPU of C / its own", *titles), rows)


def web_row(name, rounds):
    def cell(who, limit):
        found = ratios(rounds, who, limit, cost)
        return ratio_text(found) if found else "–"

    own = [cost(round_["duplex"]) for round_ in rounds.values() if "duplex" in round_]
    time = f"<sub>{statistics.median(own):.2f}</sub>" if own else ""
    return (
        WEB_TITLES[name],
        *(cell(who, limit) for limit, who, _ in WEB_PAIRS),
        time,
    )


def web_table(results):
    """The time of nginx, and of the loop in C where there is one, over that of each server."""
    header = ("CPU of", *(title for _, _, title in WEB_PAIRS), "<sub>µs: Duplex</sub>")
    return table(header, [web_row(name, rounds) for name, rounds in results.rounds["web"].items()])


def file_row(name, rounds):
    title, target = FILE_TARGETS[name]
    found = ratios(rounds, "duplex", "nginx", cost)
    if not found:
        return (title, "–", "", "")
    reached = verdict(round(statistics.median(found), 2) >= target)
    own = statistics.median(cost(round_["duplex"]) for round_ in rounds.values() if "duplex" in round_)
    return (title, ratio_text(found), f"{target:.2f} {reached}", f"<sub>{own:.2f}</sub>")


def file_table(results):
    """The time of nginx for a file that it reads or writes over that of Duplex."""
    rows = [file_row(name, rounds) for name, rounds in results.rounds["file"].items()]
    return table(("CPU of files", "nginx / **Duplex**", "to reach", "<sub>µs: Duplex</sub>"), rows)


INSPECTOR_TARGETS = {
    "nobody": ("an inspector without viewers", 0.99),
    "viewer": ("one whose viewer watches another connection", 0.97),
}


def inspector_table(results):
    """What an echo and a request cost a server without an inspector over what they cost one that has it."""
    rows = []
    for size, rounds in results.rounds["inspector"].items():
        for who, (title, target) in INSPECTOR_TARGETS.items():
            found = ratios(rounds, who, "without", cost)
            reached = verdict(round(statistics.median(found), 2) >= target) if found else "–"
            what = "HTTP" if size == "request" else f"{size} B"
            rows.append((f"{title}, {what}", ratio_text(found) if found else "–", f"{target:.2f} {reached}"))
    for rounds in results.rounds.get("watched", {}).values():
        run = next(iter(rounds.values()))["duplex"]
        early, late = int(run["early_kb"]), int(run["late_kb"])
        text = f"{late - early} KiB more <sub>{float(run['rate']):,.0f} messages/s, {int(run['lost']):,} frames not shown</sub>"
        rows.append(("memory while a connection is watched for 20 s", text, f"{early:,} to {late:,} KiB"))
    return table(("CPU of an echo or a request", "without / with", "to reach"), rows)


def zip_table(results):
    """How a zip that is streamed stands to Info-ZIP's: its CPU time for a MiB over ours."""
    targets = {"stored": ("a zip, stored, against `zip -0`", 0.8), "deflated": ("deflated at level 1, against `zip -6`", 3)}
    rows = []
    for name, rounds in results.rounds["zip"].items():
        title, target = targets[name]
        own = [cost(round_["duplex"]) for round_ in rounds.values() if "duplex" in round_]
        time = f"<sub>{statistics.median(own):.0f}</sub>" if own else ""
        rows.append((title, ratio_text(ratios(rounds, "duplex", "zip", cost)), f"{target}", time))
    return table(("CPU of 1 MiB", "zip / **Duplex**", "target", "<sub>µs: Duplex</sub>"), rows)


def memory_row(handler, run):
    count = int(run["connections"])
    each = (int(run["rss_kb"]) - int(run["before_kb"])) / count
    target = MEMORY_TARGETS[handler]
    return (
        f"memory of an idle connection, {handler}",
        f"{each:.2f} KiB <sub>{count:,} connections</sub>",
        f"at most {target:.1f} KiB: {verdict(round(each, 2) <= target)}",
    )


def growth_row(handler, run):
    early, late = int(run["early_kb"]), int(run["late_kb"])
    name = f"growth from {run['first']} to {run['last']} times {int(run['connections']):,} connections, {handler}"
    return (
        name,
        f"{late - early} KiB <sub>{early:,} to {late:,}</sub>",
        f"less than {GROWTH_TARGET} KiB: {verdict(late - early < GROWTH_TARGET)}",
    )


def bodies_row(run):
    before, peak = int(run["before_kb"]), int(run["peak_kb"])
    # The second request opened no connection of its own, and nothing was cut to be quick.
    is_whole = run["connections"] == "0" and int(run["size"]) == 1 << 30
    return (
        "a body of 1 GiB in and one out, one connection",
        f"{peak - before} KiB more <sub>{before:,} to {peak:,} KiB</sub>",
        f"less than {BODIES_TARGET:,} KiB: {verdict(is_whole and peak - before < BODIES_TARGET)}",
    )


def calls_row(handler, run):
    messages = int(run["total"])
    counts = {key.removeprefix("call_"): int(value) for key, value in run.items() if key.startswith("call_")}
    each = {name: counts.get(name, 0) / messages for name in (*EXPECTED_CALLS, *UNWANTED_CALLS)}
    is_reached = all(abs(each[name] - 1) <= CALL_TOLERANCE for name in EXPECTED_CALLS) and all(
        each[name] <= CALL_TOLERANCE for name in UNWANTED_CALLS
    )
    text = ", ".join(f"{name} {each[name]:.3f}" for name in (*EXPECTED_CALLS, *UNWANTED_CALLS))
    return (
        f"system calls per message, {handler}",
        f"{text} <sub>{messages:,} messages</sub>",
        f"one receive, one send: {verdict(is_reached)}",
    )


def other_table(results):
    rows = [memory_row(handler, run) for handler, run in results.memory.items()]
    rows += [growth_row(handler, run) for handler, run in results.growth.items()]
    rows += [bodies_row(run) for run in results.bodies.values()]
    rows += [calls_row(handler, run) for handler, run in results.calls.items()]
    rows += [allocations_row(handler, run) for handler, run in results.allocations.items()]
    return table(("what", "measured", "target"), rows)


def allocations_row(handler, run):
    each = int(run["count"]) / int(run["messages"])
    target = ALLOCATION_TARGETS.get(handler)
    return (
        f"allocations per message, {handler}",
        f"{abs(each):.3f} <sub>{int(run['messages']):,} messages</sub>",
        "" if target is None else f"{target:.0f}: {verdict(round(each, 3) <= target)}",
    )


def ratios(rounds, ours, theirs, figure):
    """What theirs costs for one of ours, round by round, where both have a figure."""
    return [
        figure(round_[theirs]) / figure(round_[ours])
        for round_ in rounds.values()
        if ours in round_ and theirs in round_
    ]


def peer_table(results):
    """How near each server comes to the raw echo in C: its time per message over theirs."""
    configurations = list(results.peers)
    everybody = [
        who
        for who in NAMES
        if any(who in round_ for rounds in results.peers.values() for round_ in rounds.values())
    ]
    rows = []
    for who in everybody:
        cells = []
        for configuration in configurations:
            found = ratios(results.peers[configuration], who, "c", cost)
            cells.append(f"{statistics.median(found):.2f}" if found else "–")
        rows.append((NAMES[who], *cells))
    titles = [f"{size_text(size)}, depth {depth}" for size, depth, _ in configurations]
    return table(("server, in a run after that of the echoes: CPU of C / its own", *titles), rows)


def deflate_rows(results):
    for size, rounds in results.rounds.get("deflate", {}).items():
        for who in ("node", "python"):
            found = ratios(rounds, "duplex", who, cost)
            if found:
                target = DEFLATE_TARGETS[size][who]
                reached = f"{target:.1f} {verdict(round(statistics.median(found), 2) >= target)}"
                title = f"echo with permessage-deflate, {size_text(size)}"
                yield (title, f"CPU: {NAMES[who]} / Duplex", ratio_text(found), reached)
    for size, run in results.compressor.items():
        of_user, of_all = float(run["of_user"]), float(run["of_all"])
        text = f"{of_user:.0%} <sub>{of_all:.0%} with the system's</sub>"
        reached = f"{COMPRESSOR_TARGET:.0%} {verdict(round(of_user, 2) >= COMPRESSOR_TARGET)}"
        yield (f"echo with permessage-deflate, {size_text(size)}", "share of the time in ISA-L", text, reached)


def limit_rows(results, kind, title, target=None):
    for size, rounds in results.rounds.get(kind, {}).items():
        found = ratios(rounds, "duplex", "c", cost)
        if not found:
            continue
        reached = "" if target is None else f"{target:.2f} {verdict(round(statistics.median(found), 2) >= target)}"
        yield (f"{title}, {size_text(size)}", "CPU: C / Duplex", ratio_text(found), reached)


def rival_rows(results, kind, title, what, figure):
    rounds = results.rounds.get(kind, {}).get("", {})
    for who in NAMES:
        found = ratios(rounds, "duplex", who, figure) if who != "duplex" else []
        if found:
            yield (title, what.format(NAMES[who]), ratio_text(found), "")


def reconnecting_rows(results):
    rounds = results.rounds.get("reconnecting", {}).get("", {})
    for who, title in (("sessions", "its sessions"), ("endless", "one endless socket")):
        found = ratios(rounds, "task", who, lambda run: float(run["us_per_msg"]))
        if found:
            reached = verdict(round(statistics.median(found), 2) <= RECONNECTING_TARGET)
            target = f"at most {RECONNECTING_TARGET:.2f}: {reached}"
            yield (f"client that reconnects, {title}: 50 connections, 32 B, depth 1", "CPU: it / plain",
                   ratio_text(found), target)


def topics_table(results):
    rows = list(limit_rows(results, "topics", "one publisher, 10,000 subscribers", TOPICS_TARGET))
    for size, rounds in results.rounds.get("topics", {}).items():
        found = ratios(rounds, "uws", "c", cost)
        if found:
            rows.append((f"the same by uWebSockets, {size_text(size)}", "CPU: C / uWebSockets", ratio_text(found), ""))
    for rounds in results.rounds.get("stalled", {}).values():
        # The other way round than costs: how much longer it takes.
        found = ratios(rounds, "without", "duplex", lambda run: float(run["p99_us"]))
        if found:
            reached = verdict(statistics.median(found) <= STALLED_TARGET)
            rows.append(("1,000 of 10,000 subscribers never receive, 4 KiB, 10 in a second", "99 % of the others' deliveries: with / without",
                         ratio_text(found), f"at most {STALLED_TARGET}: {reached}"))
    for rounds in results.rounds.get("many", {}).values():
        runs = [run["duplex"] for run in rounds.values()]
        published = statistics.median(float(run["published"]) / float(run["secs"]) for run in runs)
        share = statistics.median(float(run["cpu_secs"]) / float(run["all_secs"]) for run in runs)
        dropped = sum(int(run["dropped"]) for run in runs)
        last = statistics.median(float(run["all_secs"]) for run in runs)
        rows.append(("10,000 topics of 10 subscribers, 100,000 publications in a second",
                     "publications each second; the last one everywhere; cores; dropped",
                     f"{published:,.0f}; {last:.2f} s; {share:.2f}; {dropped}", ""))
    for depth, rounds in results.rounds.get("between", {}).items():
        found = ratios(rounds, "redis", "duplex", rate)
        if found:
            reached = verdict(round(statistics.median(found), 2) >= BETWEEN_TARGET)
            rows.append((f"from one node to another by Redis, {depth} messages of 64 B at once", "rate: it / redis-benchmark's PUBLISH",
                         ratio_text(found), f"{BETWEEN_TARGET:.2f} {reached}"))
    for rounds in results.rounds.get("topicmemory", {}).values():
        run = rounds[1]["duplex"]
        count = int(run["subscriptions"])
        each = int(run["bytes"]) / count
        topic = int(run["with_topics_bytes"]) / count - each
        rows.append(("memory of a subscription", "bytes", f"{each:.0f}",
                     f"at most {SUBSCRIPTION_TARGET}: {verdict(each <= SUBSCRIPTION_TARGET)}"))
        rows.append(("memory of a topic with one subscriber, without that", "bytes", f"{topic:.0f}",
                     f"at most {TOPIC_TARGET}: {verdict(topic <= TOPIC_TARGET)}"))
    return table(("topics", "what", "figure", "target"), rows)


def scale_table(results):
    """What very many idle connections cost those that are active, what each takes, and how long the loop's turns were."""
    costs = results.scale["cost"]
    fewest = next(iter(costs))
    rows = []
    for name, runs in costs.items():
        found = [cost(run) / cost(limit) for run, limit in zip(runs, costs[fewest])]
        (memory,) = results.scale["memory"][name]
        each = (int(memory["rss_kb"]) - int(memory["before_kb"])) / int(name)
        reached = verdict(round(statistics.median(found), 2) <= SCALE_TARGET)
        rows.append((f"50 active connections beside {int(name):,}", f"CPU of a message over that beside {int(fewest):,}",
                     "1" if name == fewest else ratio_text(found), "" if name == fewest else f"at most {SCALE_TARGET:.2f}: {reached}"))
        if int(name) >= 10_000:
            rows.append((f"memory of {int(name):,} idle connections", "KiB for each", f"{each:.2f}", ""))
    for phase, runs in results.scale["turns"].items():
        seconds = statistics.median(float(run["secs"]) for run in runs)
        longest = max(float(run["longest_cpu_us"]) for run in runs) / 1000
        rows.append((SCALE_TITLES[phase].format(f"{int(runs[0]['count']):,}"), "seconds; the loop's longest turn, of its own time",
                     f"{seconds:.2f} s; {longest:.1f} ms", f"at most {TURN_TARGET} ms: {verdict(longest <= TURN_TARGET)}"))
    return table(("very many connections", "what", "figure", "target"), rows)


def message_table(results):
    rows = [
        *deflate_rows(results),
        *limit_rows(results, "secured", "WebSocket echo over TLS 1.3, against TLS alone"),
        *limit_rows(results, "broadcast", "broadcast to all connections", BROADCAST_TARGET),
        *limit_rows(results, "compressedbroadcast", "broadcast with permessage-deflate", COMPRESSED_BROADCAST_TARGET),
        *rival_rows(results, "client", "client: 50 connections, 32 B, depth 1", "CPU: {} / Duplex",
                    lambda run: float(run["us_per_msg"])),
        *reconnecting_rows(results),
        *rival_rows(results, "openings", "connect, echo once, close", "CPU: {} / Duplex",
                    lambda run: float(run["srv_us_per_conn"])),
    ]
    return table(("messages and connections", "what", "ratio", "target"), rows)


def rounds_alone(results):
    """The rounds of what was measured alone."""
    if results.scale["cost"]:
        return max(len(runs) for runs in results.scale["cost"].values())
    kind = next(kind for kind in ("topics", "inspector", "web", "file") if kind in results.rounds)
    return max(len(rounds) for rounds in results.rounds[kind].values())


# The text before the tables: which way is better.
HOW_TO_READ = (
    "More is better in each ratio of CPU times or rates. Less is better for memory, seconds, calls and allocations, and where",
    "the target says “at most” or “less than”. A ratio of CPU times has the time of the program that is named first, divided",
    "by that of the second: at 1.00 both cost the same, at 2.00 the second costs half as much, and at 0.50 twice as much.",
    "Beside a raw echo in C 1.00 is the limit, as that pays for the system calls and nothing else: figures a little above it",
    "come from the differences between the rounds.",
    "",
    "The tables are from different runs. If two of them have a figure for the same thing, such as an echo of 32 B at depth",
    "16, it was measured twice.",
)


def report(results):
    date, *machine = results.machine
    place = f"{date}, {', '.join(machine)}; one core for the server, one for the load."
    web = (*web_table(results), "") if "web" in results.rounds else ()
    if "zip" in results.rounds:
        web = (*web, "", *zip_table(results), "")
    if "file" in results.rounds:
        web = (*web, "", *file_table(results), "")
    inspector = (*inspector_table(results), "") if "inspector" in results.rounds else ()
    topics = (*topics_table(results), "") if "topics" in results.rounds else ()
    scale = (*scale_table(results), "") if results.scale["cost"] else ()
    if not results.echoes:
        return "\n".join((f"{place} Medians of {rounds_alone(results)} rounds.", "", *web, *inspector, *topics, *scale))
    rounds = max(len(rounds) for rounds in results.echoes.values())
    lines = [
        f"{place} Medians of at most {rounds} rounds, with the smallest and the largest in small print.",
        "",
        *HOW_TO_READ,
        "",
        *echo_table(results),
        "",
        *(stream_table(results) if results.streams else ()),
        "",
        *(request_table(results) if "request" in results.rounds else ()),
        "",
        *web,
        *message_table(results),
        "",
        *other_table(results),
        "",
        *(peer_table(results) if results.peers else ()),
        "",
        *inspector,
        *topics,
        *scale,
    ]
    return "\n".join(lines) + "\n"


def put_into(path, text):
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{path} doesn't have {BEGIN} and behind it {END}.")
    path.write_text(f"{before}{begin}\n{text}{end}{after}")


def main():
    arguments = sys.argv[1:]
    is_for_file = len(arguments) == 3 and arguments[1] == "--into"
    if len(arguments) != 1 and not is_for_file:
        sys.exit(__doc__)
    text = report(Results(Path(arguments[0]).read_text().splitlines()))
    if is_for_file:
        put_into(Path(arguments[2]), text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
