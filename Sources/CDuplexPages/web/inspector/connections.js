// SPDX-License-Identifier: Apache-2.0
// All connections of the process in a table; one of them opened beside it.

import { openConnection } from "./connection.js";
import { arrange, make } from "./dom.js";
import { foreign } from "./foreign.js";
import { bytes, count, duration } from "./format.js";
import { button } from "./icons.js";
import { watch } from "./live.js";
import { t } from "./texts.js";

const kinds = {
    webSocket: t("kindWebSocket"),
    http: t("kindHTTP"),
    events: t("kindEvents"),
    stream: t("kindStream"),
    datagrams: t("kindDatagrams"),
    reconnecting: t("kindReconnecting"),
};
const columns = [
    t("connection"),
    t("peer"),
    t("routeOrURL"),
    t("age"),
    t("in"),
    t("out"),
    t("rate"),
    t("queued"),
    t("roundTrip"),
];
const points = 40;

/** How fast each connection is, from one look to the next. */
class Rates {
    constructor() {
        this.all = new Map();
    }

    note(rows) {
        const now = performance.now() / 1000;
        const next = new Map();
        for (const row of rows) {
            const sum = (row.bytesIn ?? 0) + (row.bytesOut ?? 0);
            const earlier = this.all.get(row.id);
            const rate = earlier ? Math.max(0, sum - earlier.sum) / Math.max(0.001, now - earlier.at) : 0;
            const series = [...(earlier?.series ?? []), rate].slice(-points);
            next.set(row.id, { sum, at: now, series });
        }
        this.all = next;
    }

    of(id) {
        return this.all.get(id)?.series ?? [];
    }
}

/** A line of the last rates. */
export function spark(series) {
    const namespace = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(namespace, "svg");
    const most = Math.max(...series, 1);
    svg.setAttribute("viewBox", `0 0 ${points - 1} 20`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("class", "spark");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS(namespace, "polyline");
    const first = points - series.length;
    const text = series.map((rate, index) => `${first + index},${(19 - (18 * rate) / most).toFixed(1)}`);
    line.setAttribute("points", text.join(" "));
    svg.append(line);
    return svg;
}

function cells(row, rates) {
    const series = rates.of(row.id);
    const traffic = (messages, size) =>
        size === undefined ? "–" : messages === undefined ? bytes(size) : `${count(messages)} · ${bytes(size)}`;
    const kind = kinds[row.kind];
    const name = make(
        "td",
        {},
        make("strong", { text: row.id }),
        " ",
        make("span", { class: "badge", text: row.client ? t("ofClient", { kind }) : kind }),
        " ",
        foreign("span", row.state, { class: "soft" }),
    );
    for (const extra of [row.security, row.compression && t("compressed")]) {
        if (extra) name.append(" ", foreign("span", extra, { class: "badge good" }));
    }
    const rate = make(
        "td",
        { class: "number" },
        `${t("perSecond", { size: bytes(series.at(-1) ?? 0) })} `,
        spark(series),
    );
    return [
        name,
        foreign("td", row.peer ?? "–", { class: "peer" }),
        make("td", {}, foreign("span", row.place ?? "–"), " ", foreign("span", row.note ?? "", { class: "soft" })),
        make("td", { class: "number", text: duration(row.age) }),
        make("td", { class: "number", text: traffic(row.messagesIn, row.bytesIn) }),
        make("td", { class: "number", text: traffic(row.messagesOut, row.bytesOut) }),
        rate,
        make("td", { class: "number", text: row.queued ? bytes(row.queued) : "–" }),
        make("td", { class: "number", text: duration(row.roundTrips?.last) }),
    ];
}

export async function open(main, { parameters, allows }) {
    const rates = new Rates();
    const rows = new Map();
    let all = [];
    let opened = null;
    const filter = make("input", {
        type: "search",
        class: "grow",
        "aria-label": t("filterConnections"),
        placeholder: t("filter"),
        oninput: show,
    });
    const summary = make("span", { class: "soft", role: "status" });
    const body = make("tbody");
    const table = make(
        "table",
        { class: "grid connections", "aria-labelledby": "part-title" },
        make("thead", {}, make("tr", {}, ...columns.map((text) => make("th", { scope: "col", text })))),
        body,
    );
    const detail = make("section", { class: "detail", "aria-label": t("connection"), hidden: true });
    main.append(
        make("div", { class: "tools" }, filter, summary),
        make("div", { class: "grid-frame list" }, table),
        detail,
    );

    function row(entry) {
        let node = rows.get(entry.id);
        if (!node) {
            const go = () => {
                location.hash = `connections?id=${encodeURIComponent(entry.id)}`;
            };
            node = make("tr", {
                class: "choice",
                tabindex: "0",
                "data-id": entry.id,
                onclick: go,
                onkeydown: (event) => {
                    if (event.key === "Enter") go();
                },
            });
            rows.set(entry.id, node);
        }
        node.replaceChildren(...cells(entry, rates));
        node.setAttribute("aria-selected", String(entry.id === opened?.id));
        return node;
    }

    function show() {
        const text = filter.value.trim().toLowerCase();
        const shown = all.filter((entry) => JSON.stringify(entry).toLowerCase().includes(text));
        arrange(body, shown.map(row));
        for (const id of rows.keys()) if (!all.some((entry) => entry.id === id)) rows.delete(id);
        summary.textContent =
            shown.length === all.length
                ? t("connectionCount", { count: all.length })
                : t("connectionsFound", { found: shown.length, count: all.length });
    }

    function change(wanted) {
        const id = wanted.get("id");
        if (id === opened?.id) return;
        opened?.close();
        opened = null;
        detail.hidden = id === null;
        detail.replaceChildren();
        main.classList.toggle("with-detail", id !== null);
        if (id !== null) {
            detail.append(
                button("close", {
                    label: t("close"),
                    class: "quiet close",
                    onclick: () => {
                        location.hash = "connections";
                    },
                }),
            );
            opened = { id, ...openConnection(detail, id, allows) };
            opened.update(all.find((entry) => entry.id === id));
        }
        show();
    }

    const end = watch(
        "connections",
        ([state]) => {
            all = state.connections;
            rates.note(all);
            show();
            opened?.update(all.find((entry) => entry.id === opened.id));
        },
        {
            onError: (text) => {
                summary.textContent = text;
            },
        },
    );
    change(parameters);
    return {
        change,
        close() {
            end();
            opened?.close();
        },
    };
}
