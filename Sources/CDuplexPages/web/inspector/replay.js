// SPDX-License-Identifier: Apache-2.0
// Replays a recording against a server, where the app allows that, and tells what was different.

import { post } from "./api.js";
import { keep, make, recall } from "./dom.js";
import { foreign } from "./foreign.js";
import { count, duration } from "./format.js";
import { button } from "./icons.js";
import { say } from "./notices.js";

/** Lines such as `Authorization: Bearer …` as pairs. */
function headers(text) {
    return text
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => {
            const [name, ...value] = line.split(":");
            return [name.trim(), value.join(":").trim()];
        });
}

function row(outcome, link, recording) {
    const isSame = !outcome.error && outcome.differences.length === 0;
    return make(
        "tr",
        {},
        make(
            "td",
            {},
            make("a", { href: link(recording, outcome.id) }, foreign("span", outcome.url, { class: "mono" })),
        ),
        make(
            "td",
            {},
            make("span", {
                class: isSame ? "badge good" : "badge bad",
                text: outcome.error ? "failed" : isSame ? "the same" : "different",
            }),
        ),
        make("td", { class: "number", text: `${outcome.recorded || "none"} → ${outcome.status ?? "none"}` }),
        make("td", { class: "number", text: duration(outcome.seconds) }),
        foreign("td", [outcome.error, ...outcome.differences].filter(Boolean).join(" ")),
    );
}

/** Shows the form in a place, empty where nothing may be replayed. */
export function showReplay(place, { recording, entries, allows, link }) {
    if (!allows.has("replaying") || recording === null || entries.length === 0) return place.replaceChildren();
    if (place.dataset.recording === recording && place.childElementCount > 0) return undefined;
    place.dataset.recording = recording;
    const target = make("input", {
        class: "grow",
        type: "text",
        inputmode: "url",
        required: true,
        placeholder: "The URL of a server to try it with",
        "aria-label": "Server to replay against",
        value: recall("inspector.replay.target", ""),
    });
    const more = make("textarea", {
        rows: "2",
        placeholder: "Authorization: Bearer …",
        "aria-label": "Fields to send as well",
    });
    const body = make("tbody");
    const results = make(
        "div",
        { class: "grid-frame", hidden: true },
        make(
            "table",
            { class: "grid", "aria-label": "What was different" },
            make(
                "thead",
                {},
                make(
                    "tr",
                    {},
                    ...["Entry", "Outcome", "Status", "Took", "Differences"].map((text) =>
                        make("th", { scope: "col", text }),
                    ),
                ),
            ),
            body,
        ),
    );
    const state = make("p", { class: "soft", role: "status" });
    const start = button("play", { text: "Replay", type: "submit" });
    const form = make(
        "form",
        {
            class: "pane",
            onsubmit: async (event) => {
                event.preventDefault();
                start.disabled = true;
                state.textContent = "It is replayed, one entry after the other.";
                try {
                    keep("inspector.replay.target", target.value);
                    const { outcomes, left } = await post("recordings/replay", {
                        recording: Number(recording),
                        target: target.value,
                        headers: headers(more.value),
                    });
                    body.replaceChildren(...outcomes.map((outcome) => row(outcome, link, recording)));
                    results.hidden = false;
                    const same = outcomes.filter((one) => !one.error && one.differences.length === 0).length;
                    state.textContent =
                        `${count(same)} of ${count(outcomes.length)} went as recorded.` +
                        (left ? ` ${count(left)} weren't replayed: it is 100 at once.` : "");
                } catch (error) {
                    state.textContent = "";
                    say(error.message, "danger");
                }
                start.disabled = false;
            },
        },
        make("h3", { text: "Replay" }),
        make("p", {
            class: "soft",
            text: "Sends what the clients sent to a server, and compares what it answers. What was masked isn't sent.",
        }),
        make("div", { class: "tools" }, target, start),
        more,
    );
    place.replaceChildren(form, state, results);
    return undefined;
}
