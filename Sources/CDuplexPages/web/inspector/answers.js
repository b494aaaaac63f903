// SPDX-License-Identifier: Apache-2.0
// What commands and messages have answered: text, JSON, tables.

import { make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { t } from "./texts.js";

/** JSON over several lines; `null` for a text that is none. */
function pretty(text) {
    if (!/^\s*[[{]/.test(text)) return null;
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return null;
    }
}

function table({ columns, rows }) {
    return make(
        "div",
        { class: "grid-frame", tabindex: "0", role: "region", "aria-label": t("answer") },
        make(
            "table",
            { class: "grid", "aria-label": t("answer") },
            make(
                "thead",
                {},
                make("tr", {}, ...columns.map((name) => make("th", { scope: "col", text: visible(name) }))),
            ),
            make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell) => foreign("td", cell))))),
        ),
    );
}

/** The elements that show the answer of a run. */
export function answerNodes(run) {
    if (run.forgotten) return [make("p", { class: "soft", text: t("answerForgotten") })];
    const { answer } = run;
    if (!answer) return [];
    const nodes = [];
    if (answer.cut) nodes.push(make("p", { class: "soft", text: t("answerCut") }));
    if (answer.columns) {
        nodes.push(make("p", { class: "soft", text: t("answerRows", { count: answer.rows.length }) }), table(answer));
    } else {
        const text = answer.json ?? answer.text;
        const json = answer.cut ? null : (answer.json ?? pretty(text));
        nodes.push(foreign("pre", json ?? text, { class: json === null ? "text" : "text json", tabindex: "0" }));
    }
    return nodes;
}
