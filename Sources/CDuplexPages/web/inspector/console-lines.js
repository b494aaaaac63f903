// SPDX-License-Identifier: Apache-2.0
// Lines of the console: which are wanted, and how they look.

import { nodes, parse } from "./ansi.js";
import { make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { clock } from "./format.js";
import { t } from "./texts.js";

export const levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"];
const streams = { output: t("streamOutput"), error: t("streamError"), both: t("streamBoth") };

/** What is looked for in a text, whatever the case; null for nothing. */
export function pattern(text) {
    return text === "" ? null : new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"), "giu");
}

function has(text, search) {
    search.lastIndex = 0;
    return text !== undefined && search.test(text);
}

/** Whether an entry passes: `{ level, kinds, search }`. */
export function isWanted(entry, { level, kinds, search }) {
    if (entry.lost) return true;
    if (!kinds.has(entry.kind === "both" ? "output" : entry.kind)) return false;
    if (entry.kind === "log" && levels.indexOf(entry.level) < level) return false;
    if (search === null) return true;
    entry.parsed ??= parse(entry.text);
    return has(entry.parsed.plain, search) || has(entry.label, search) || has(entry.source, search);
}

function value(json) {
    return typeof json === "string" ? json : JSON.stringify(json, null, 2);
}

function facts(entry) {
    const list = make("dl", { class: "facts" });
    for (const [name, json] of Object.entries(entry.metadata ?? {})) {
        list.append(foreign("dt", name), make("dd", {}, foreign("pre", value(json), { class: "text" })));
    }
    const others = [
        [t("source"), entry.source],
        [t("place"), entry.place],
        [t("function"), entry.function],
    ];
    for (const [name, text] of others) {
        if (text) list.append(make("dt", { text: name }), foreign("dd", text));
    }
    return list;
}

/** What folds out: the metadata, and where it was logged; made when it is. */
function details(entry) {
    const known = Object.keys(entry.metadata ?? {}).length;
    const text = known === 0 ? t("onlySource") : t("valueCount", { count: `${known}` });
    const node = make("details", { class: "more" }, make("summary", { text }));
    node.addEventListener("toggle", () => {
        if (node.open && node.childElementCount === 1) node.append(facts(entry));
    });
    return node;
}

/** The row of an entry. */
export function row(entry, search) {
    if (entry.lost) {
        return make("div", { class: "line lost-items", text: t("linesGone", { count: entry.lost }) });
    }
    const kind = entry.level ?? entry.kind;
    const node = document.createElement("div");
    node.className = `line of-${kind}`;
    const time = document.createElement("time");
    time.textContent = clock(entry.time);
    const badge = document.createElement("span");
    badge.className = "kind";
    badge.textContent = entry.level ?? streams[entry.kind] ?? "";
    const text = document.createElement("span");
    text.className = "said";
    text.dir = "auto";
    if (entry.label) text.append(foreign("span", entry.label, { class: "label" }), " ");
    if (search === null && !entry.text.includes("\u001b")) text.append(visible(entry.text));
    else {
        entry.parsed ??= parse(entry.text);
        text.append(...nodes(entry.parsed, search));
    }
    if (entry.cut) text.append(make("span", { class: "cut", title: t("lineGoesOn"), text: "…" }));
    node.append(time, badge, text);
    if (entry.level) node.append(details(entry));
    return node;
}
