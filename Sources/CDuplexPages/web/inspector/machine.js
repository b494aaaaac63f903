// SPDX-License-Identifier: Apache-2.0
// The process and the machine under it, each second. What the system doesn't tell is a dash, and not zero.

import { get } from "./api.js";
import { columns, rows, spark, table } from "./charts.js";
import { make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { bytes, clock, count, duration } from "./format.js";
import { watch } from "./live.js";

const states = { R: "runs", S: "sleeps", D: "waits for a disk", T: "stopped", t: "traced", Z: "ended", I: "idle" };
const drawnThreads = 50;

/** A number, or a dash for what isn't known. */
const known = (value, format) => (value === null || value === undefined ? "–" : format(value));
const percent = (part) => `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`;

/** A tile with a number, what belongs to it, and its last minute. */
function tile(id, title) {
    const value = make("strong", { id: `machine-${id}` });
    const rest = make("span", { class: "soft" });
    const line = spark();
    const node = make("div", { class: "pane tile" }, make("h3", { text: title }), value, rest, line.node);
    return {
        node,
        show(text, more, number) {
            value.textContent = text;
            rest.textContent = more;
            if (number !== null && number !== undefined) line.add(number);
        },
    };
}

function pane(title, ...children) {
    return make("section", { class: "pane", "aria-label": title }, make("h3", { text: title }), ...children);
}

/** Pairs of a name and a text, in a list that stays. */
function factList() {
    const node = make("dl", { class: "facts" });
    const values = new Map();
    return {
        node,
        show(pairs) {
            for (const [name, text] of pairs) {
                if (!values.has(name)) {
                    values.set(name, make("dd", { dir: "auto" }));
                    node.append(make("dt", { text: name }), values.get(name));
                }
                const shown = visible(text);
                if (values.get(name).textContent !== shown) values.get(name).textContent = shown;
            }
        },
    };
}

export function open(main) {
    let last = null;
    const tiles = Object.fromEntries(
        Object.entries({
            cpu: "Processor",
            memory: "Memory",
            allocator: "Allocated",
            descriptors: "Descriptors",
            threads: "Threads",
            delay: "Loop delay",
        }).map(([id, title]) => [id, tile(id, title)]),
    );

    // MARK: The parts

    const loops = table(
        "Event loops",
        ["Loop", "Half below", "99 % below", "99.9 % below", "Longest", "Last second", "Delays"],
        [1, 2, 3, 4, 5],
    );
    const loopNote = make("p", {
        class: "soft",
        text: "How long a loop takes to come to what is new for it; measured while this page is open. Each column counts delays, from less than 0.1 ms to more than 300 ms.",
    });
    const threads = table("Threads", ["Thread", "Name", "State", "Processor", "Time"], [3, 4]);
    const threadNote = make("p", { class: "soft" });
    const interfaces = table("Network interfaces", ["Name", "State", "Addresses", "Received", "Sent"], [3, 4]);
    const changes = make("ol", { class: "changes", id: "machine-changes" });
    const kinds = make("p", { class: "kinds", id: "machine-kinds" });
    const listing = make("div", { id: "machine-listing" });
    const list = make("button", { type: "button", id: "machine-list", text: "List them" });
    const facts = factList();
    list.addEventListener("click", async () => {
        list.disabled = true;
        try {
            listDescriptors(listing, await get("machine/descriptors"));
        } catch (error) {
            listing.replaceChildren(make("p", { class: "soft", text: error.message }));
        } finally {
            list.disabled = false;
        }
    });

    // MARK: What is shown

    /** How much of a counter came in a second; null before there are two looks. */
    function rate(now, before, seconds) {
        return typeof now === "number" && typeof before === "number" && seconds > 0
            ? Math.max(0, now - before) / seconds
            : null;
    }

    function showTiles({ process, loops: all }, seconds) {
        const { cpu, memory, descriptors, allocator } = process;
        const total = cpu && cpu.user + cpu.system;
        const before = last?.process.cpu;
        const used = rate(total, before && before.user + before.system, seconds);
        tiles.cpu.show(known(used, percent), cpu ? `${duration(cpu.user)}, system ${duration(cpu.system)}` : "", used);
        tiles.memory.show(known(memory.resident, bytes), `${known(memory.peak, bytes)} at most`, memory.resident);
        tiles.allocator.show(
            known(allocator?.used, bytes),
            allocator ? `${bytes(allocator.kept)} kept for later` : "",
            allocator?.used,
        );
        const limit = known(descriptors.limit, count);
        tiles.descriptors.show(known(descriptors.open, count), `of ${limit}`, descriptors.open);
        tiles.threads.show(known(process.threadCount, count), "", process.threadCount);
        const worst = Math.max(0, ...all.map((loop) => loop.worst));
        tiles.delay.show(
            duration(worst),
            `longest of ${count(all.length)} ${all.length === 1 ? "loop" : "loops"}`,
            worst,
        );
    }

    function showLoops(all) {
        rows(
            loops.body,
            all.map((loop, index) => ({ ...loop, index })),
            (loop) => loop.index,
            {
                make: () => [
                    make("td"),
                    ...Array.from({ length: 5 }, () => make("td", { class: "number" })),
                    make("td", {}, columns().node),
                ],
                show(cells, loop) {
                    const times = [loop.p50, loop.p99, loop.p999, loop.max, loop.worst].map(duration);
                    [`${loop.index + 1}`, ...times].forEach((text, index) => {
                        cells[index].textContent = text;
                    });
                    cells[6].firstElementChild.show(loop.columns);
                },
            },
        );
    }

    function showThreads({ threads: all, threadCount }, seconds) {
        const before = new Map((last?.process.threads ?? []).map((thread) => [thread.id, thread.cpu]));
        const some = (all ?? []).slice(0, drawnThreads);
        rows(threads.body, some, (thread) => thread.id, {
            make: () => ["", "", "", "number", "number"].map((name) => make("td", { class: name })),
            show(cells, thread) {
                const share = rate(thread.cpu, before.get(thread.id), seconds);
                const texts = [
                    thread.id,
                    visible(thread.name),
                    states[thread.state] ?? thread.state,
                    known(share, percent),
                    duration(thread.cpu),
                ];
                texts.forEach((text, index) => {
                    cells[index].textContent = text;
                });
            },
        });
        threadNote.textContent =
            all === null
                ? "This system doesn't tell."
                : some.length < threadCount
                  ? `The ${some.length} busiest of ${count(threadCount)}.`
                  : "";
    }

    function showNetwork(network, seconds) {
        const before = new Map((last?.network.interfaces ?? []).map((one) => [one.name, one]));
        rows(interfaces.body, network.interfaces ?? [], (one) => one.name, {
            make: () => ["", "", "", "number", "number"].map((name) => make("td", { class: name })),
            show(cells, one) {
                const moved = (now, then) => {
                    const speed = rate(now, then, seconds);
                    return known(now, bytes) + (speed > 0 ? ` (${bytes(speed)}/s)` : "");
                };
                const was = before.get(one.name);
                const texts = [
                    visible(one.name),
                    one.up ? "up" : "down",
                    one.addresses.join("\n"),
                    moved(one.received, was?.received),
                    moved(one.sent, was?.sent),
                ];
                texts.forEach((text, index) => {
                    cells[index].textContent = text;
                });
            },
        });
        const none = network.watches
            ? "Nothing has changed since this page was opened."
            : "This system doesn't tell of changes.";
        const nodes = network.changes.map(({ time, text }) =>
            make("li", {}, make("time", { class: "soft", text: clock(time) }), " ", foreign("span", text)),
        );
        changes.replaceChildren(...(nodes.length ? nodes : [make("li", { class: "soft", text: none })]));
    }

    function showKinds({ kinds: all }) {
        kinds.replaceChildren(
            ...Object.entries(all)
                .sort(([, one], [, other]) => other - one)
                .map(([kind, number]) => make("span", { class: "badge", text: `${visible(kind)} ${count(number)}` })),
        );
    }

    function showFacts({ process, machine, time }) {
        facts.show([
            ["Process", `${process.name}, number ${process.id}`],
            ["Running for", known(process.started, (start) => duration(time - start))],
            ["Began", known(process.started, (start) => new Date(start * 1000).toLocaleString("en"))],
            ["Host", known(machine.host, String)],
            ["System", known(machine.system, String)],
            ["Kernel", known(machine.kernel, String)],
            ["Machine up for", duration(machine.uptime)],
            ["Processors", count(machine.processors)],
            ["Load", known(machine.load, (load) => load.join(", "))],
            ["Memory", `${known(machine.memory, bytes)}, ${known(machine.available, bytes)} available`],
        ]);
    }

    function take(items) {
        const state = items.at(-1);
        if (!state) return;
        const seconds = last ? state.time - last.time : 0;
        showTiles(state, seconds);
        showLoops(state.loops);
        showThreads(state.process, seconds);
        showNetwork(state.network, seconds);
        showKinds(state.process.descriptors);
        showFacts(state);
        last = state;
        main.dataset.looks = `${Number(main.dataset.looks ?? 0) + 1}`;
    }

    main.append(
        make("div", { class: "tiles" }, ...Object.values(tiles).map(({ node }) => node)),
        pane("Event loops", loops.node, loopNote),
        make(
            "div",
            { class: "halves" },
            pane("Open descriptors", kinds, list, listing),
            pane("Process and machine", facts.node),
        ),
        pane("Threads", threads.node, threadNote),
        pane("Network", interfaces.node, make("h3", { text: "Changes" }), changes),
    );
    const end = watch("machine", take);
    return {
        close() {
            end();
            delete main.dataset.looks;
        },
    };
}

/** The list of descriptors, with a filter above it. */
function listDescriptors(place, { descriptors, count: total }) {
    if (descriptors === null) {
        place.replaceChildren(make("p", { class: "soft", text: "This system doesn't tell." }));
        return;
    }
    const field = make("input", {
        type: "search",
        id: "machine-find",
        placeholder: "Filter",
        "aria-label": "Filter the descriptors",
    });
    const found = table("Open descriptors", ["Number", "Kind", "What it is"], [0]);
    const note = make("p", { class: "soft" });
    const draw = () => {
        const text = field.value.toLowerCase();
        const wanted = descriptors.filter(({ number, kind, target }) =>
            `${number} ${kind} ${target}`.toLowerCase().includes(text),
        );
        found.body.replaceChildren(
            ...wanted
                .slice(0, 500)
                .map(({ number, kind, target }) =>
                    make(
                        "tr",
                        {},
                        make("td", { class: "number", text: `${number}` }),
                        make("td", { text: visible(kind) }),
                        foreign("td", target),
                    ),
                ),
        );
        note.textContent =
            wanted.length > 500
                ? `The first 500 of ${count(wanted.length)} are shown.`
                : `${count(wanted.length)} of ${count(total)}`;
    };
    field.addEventListener("input", draw);
    draw();
    place.replaceChildren(field, found.node, note);
}
