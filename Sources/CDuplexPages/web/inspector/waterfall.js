// SPDX-License-Identifier: Apache-2.0
// The parts of a handshake as bars, one below the other.

import { make } from "./dom.js";
import { foreign } from "./foreign.js";
import { duration } from "./format.js";
import { t } from "./texts.js";

function bar(name, start, end, total, kind) {
    const track = make("span", { class: "track" }, make("span", { class: `bar-part ${kind}` }));
    const piece = track.firstElementChild;
    piece.style.insetInlineStart = `${(100 * start) / total}%`;
    piece.style.inlineSize = `${Math.max(0.5, (100 * (end - start)) / total)}%`;
    return make(
        "li",
        {},
        foreign("span", name, { class: "name" }),
        track,
        make("span", { class: "number", text: duration(end - start) }),
    );
}

export function waterfall(timeline) {
    const total = Math.max(timeline.total, ...timeline.steps.map((step) => step.end), 1e-6);
    const rows = timeline.steps.map((step) => bar(step.name, step.start, step.end, total, "step"));
    for (const attempt of timeline.attempts) {
        rows.push(bar(`${attempt.address} ${attempt.outcome}`, attempt.start, attempt.end, total, "attempt"));
    }
    if (rows.length === 0) return make("p", { class: "soft", text: t("noHandshake") });
    return make(
        "section",
        { class: "pane", "aria-label": t("handshake") },
        make("h4", { text: t("handshakeTime", { time: duration(timeline.total) }) }),
        make("ul", { class: "waterfall" }, ...rows),
    );
}
