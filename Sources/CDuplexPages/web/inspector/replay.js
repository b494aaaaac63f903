// SPDX-License-Identifier: Apache-2.0
// Replays a recording against a server, where the app allows that, and tells what was different.

import { post } from "./api.js";
import { keep, make, recall } from "./dom.js";
import { foreign } from "./foreign.js";
import { duration } from "./format.js";
import { button } from "./icons.js";
import { say } from "./notices.js";
import { t } from "./texts.js";

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
                text: outcome.error ? t("failed") : isSame ? t("same") : t("different"),
            }),
        ),
        make("td", { class: "number", text: `${outcome.recorded || t("none")} → ${outcome.status ?? t("none")}` }),
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
        placeholder: t("replayTargetHint"),
        "aria-label": t("replayTarget"),
        value: recall("inspector.replay.target", ""),
    });
    const more = make("textarea", { rows: "2", placeholder: t("replayFieldsHint"), "aria-label": t("replayFields") });
    const body = make("tbody");
    const results = make(
        "div",
        { class: "grid-frame", hidden: true },
        make(
            "table",
            { class: "grid", "aria-label": t("whatWasDifferent") },
            make(
                "thead",
                {},
                make(
                    "tr",
                    {},
                    ...[t("entry"), t("outcome"), t("status"), t("took"), t("differences")].map((text) =>
                        make("th", { scope: "col", text }),
                    ),
                ),
            ),
            body,
        ),
    );
    const state = make("p", { class: "soft", role: "status" });
    const start = button("play", { text: t("replay"), type: "submit" });
    const form = make(
        "form",
        {
            class: "pane",
            onsubmit: async (event) => {
                event.preventDefault();
                start.disabled = true;
                state.textContent = t("replaying");
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
                    const sentences = [t("replayed", { same, count: outcomes.length })];
                    if (left) sentences.push(t("notReplayed", { count: left }));
                    state.textContent = sentences.join(" ");
                } catch (error) {
                    state.textContent = "";
                    say(error.message, "danger");
                }
                start.disabled = false;
            },
        },
        make("h3", { text: t("replay") }),
        make("p", { class: "soft", text: t("replayNote") }),
        make("div", { class: "tools" }, target, start),
        more,
    );
    place.replaceChildren(form, state, results);
    return undefined;
}
