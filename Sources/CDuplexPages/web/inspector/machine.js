// SPDX-License-Identifier: Apache-2.0
// The process and the machine under it, each second. What the system doesn't tell is a dash, and not zero.

import { get } from "./api.js";
import { columns, rows, spark, table } from "./charts.js";
import { make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { bytes, clock, count, duration } from "./format.js";
import { watch } from "./live.js";
import { t } from "./texts.js";

const states = {
    R: t("threadRuns"),
    S: t("threadSleeps"),
    D: t("threadWaits"),
    T: t("threadStopped"),
    t: t("threadTraced"),
    Z: t("threadEnded"),
    I: t("threadIdle"),
};
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
            cpu: t("processor"),
            memory: t("memory"),
            allocator: t("allocated"),
            descriptors: t("descriptors"),
            threads: t("threads"),
            delay: t("loopDelay"),
        }).map(([id, title]) => [id, tile(id, title)]),
    );

    // MARK: The parts

    const loops = table(
        t("eventLoops"),
        [t("loop"), t("halfBelow"), t("most99Below"), t("most999Below"), t("longest"), t("lastSecond"), t("delays")],
        [1, 2, 3, 4, 5],
    );
    const loopNote = make("p", { class: "soft", text: t("loopNote") });
    const threads = table(t("threads"), [t("thread"), t("name"), t("state"), t("processor"), t("time")], [3, 4]);
    const threadNote = make("p", { class: "soft" });
    const interfaces = table(
        t("interfaces"),
        [t("name"), t("state"), t("addresses"), t("received"), t("sent")],
        [3, 4],
    );
    const changes = make("ol", { class: "changes", id: "machine-changes" });
    const kinds = make("p", { class: "kinds", id: "machine-kinds" });
    const listing = make("div", { id: "machine-listing" });
    const list = make("button", { type: "button", id: "machine-list", text: t("listThem") });
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
        tiles.cpu.show(
            known(used, percent),
            cpu ? t("cpuTimes", { user: duration(cpu.user), system: duration(cpu.system) }) : "",
            used,
        );
        tiles.memory.show(
            known(memory.resident, bytes),
            t("atMost", { size: known(memory.peak, bytes) }),
            memory.resident,
        );
        tiles.allocator.show(
            known(allocator?.used, bytes),
            allocator ? t("keptForLater", { size: bytes(allocator.kept) }) : "",
            allocator?.used,
        );
        const limit = known(descriptors.limit, count);
        tiles.descriptors.show(known(descriptors.open, count), t("ofLimit", { limit }), descriptors.open);
        tiles.threads.show(known(process.threadCount, count), "", process.threadCount);
        const worst = Math.max(0, ...all.map((loop) => loop.worst));
        tiles.delay.show(duration(worst), t("longestOf", { count: all.length }), worst);
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
                ? t("notTold")
                : some.length < threadCount
                  ? t("busiest", { count: some.length, total: threadCount })
                  : "";
    }

    function showNetwork(network, seconds) {
        const before = new Map((last?.network.interfaces ?? []).map((one) => [one.name, one]));
        rows(interfaces.body, network.interfaces ?? [], (one) => one.name, {
            make: () => ["", "", "", "number", "number"].map((name) => make("td", { class: name })),
            show(cells, one) {
                const moved = (now, then) => {
                    const speed = rate(now, then, seconds);
                    return known(now, bytes) + (speed > 0 ? ` (${t("perSecond", { size: bytes(speed) })})` : "");
                };
                const was = before.get(one.name);
                const texts = [
                    visible(one.name),
                    one.up ? t("up") : t("down"),
                    one.addresses.join("\n"),
                    moved(one.received, was?.received),
                    moved(one.sent, was?.sent),
                ];
                texts.forEach((text, index) => {
                    cells[index].textContent = text;
                });
            },
        });
        const none = network.watches ? t("noChanges") : t("changesNotTold");
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
            [t("process"), t("processFact", { name: process.name, id: `${process.id}` })],
            [t("runningFor"), known(process.started, (start) => duration(time - start))],
            [t("began"), known(process.started, (start) => new Date(start * 1000).toLocaleString("en"))],
            [t("host"), known(machine.host, String)],
            [t("system"), known(machine.system, String)],
            [t("kernel"), known(machine.kernel, String)],
            [t("machineUpFor"), duration(machine.uptime)],
            [t("processors"), count(machine.processors)],
            [t("load"), known(machine.load, (load) => load.join(", "))],
            [
                t("memory"),
                t("memoryFact", { size: known(machine.memory, bytes), available: known(machine.available, bytes) }),
            ],
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
        pane(t("eventLoops"), loops.node, loopNote),
        make(
            "div",
            { class: "halves" },
            pane(t("openDescriptors"), kinds, list, listing),
            pane(t("processAndMachine"), facts.node),
        ),
        pane(t("threads"), threads.node, threadNote),
        pane(t("network"), interfaces.node, make("h3", { text: t("changes") }), changes),
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
        place.replaceChildren(make("p", { class: "soft", text: t("notTold") }));
        return;
    }
    const field = make("input", {
        type: "search",
        id: "machine-find",
        placeholder: t("filter"),
        "aria-label": t("filterDescriptors"),
    });
    const found = table(t("openDescriptors"), [t("number"), t("kind"), t("whatItIs")], [0]);
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
                ? t("descriptorsCut", { count: wanted.length })
                : t("foundOf", { found: wanted.length, count: total });
    };
    field.addEventListener("input", draw);
    draw();
    place.replaceChildren(field, found.node, note);
}
