// SPDX-License-Identifier: Apache-2.0
// One connection: what is known of it, how it came about, what may be done with it, and its frames.

import { get, post } from "./api.js";
import { make } from "./dom.js";
import { foreign } from "./foreign.js";
import { bytes, duration } from "./format.js";
import { showFrames } from "./frames.js";
import { say } from "./notices.js";
import { address } from "./server.js";
import { t } from "./texts.js";
import { waterfall } from "./waterfall.js";

const traffic = (count, size) => (count === undefined ? size : t("messagesAndSize", { count, size }));

function facts(entry) {
    const list = make("dl", { class: "facts" });
    const add = (name, value) => {
        if (value === undefined || value === null || value === "") return;
        list.append(make("dt", { text: name }), foreign("dd", value));
    };
    const trips = entry.roundTrips;
    add(t("state"), entry.state);
    add(t("peer"), entry.peer);
    add(t("thisSide"), entry.local);
    add(t("routeOrURL"), entry.place);
    add(t("security"), entry.security ?? t("none"));
    add(t("subprotocol"), entry.subprotocol);
    add(t("compression"), entry.compression);
    add(t("openFor"), duration(entry.age));
    if (entry.bytesIn !== undefined) {
        add(t("received"), traffic(entry.messagesIn, bytes(entry.bytesIn)));
        add(t("sent"), traffic(entry.messagesOut, bytes(entry.bytesOut)));
    }
    add(t("toBeSent"), entry.queued === undefined ? null : bytes(entry.queued));
    add(t("inbox"), entry.inbox);
    add(t("dropped"), entry.dropped);
    add(
        t("roundTrips"),
        trips &&
            t("roundTripTimes", {
                last: duration(trips.last),
                least: duration(trips.least),
                median: duration(trips.median),
                most: duration(trips.p99),
                count: trips.count,
            }),
    );
    add(t("note"), entry.note);
    return list;
}

function failing(action) {
    return async (event) => {
        event.preventDefault();
        try {
            await action(new FormData(event.target));
        } catch (error) {
            say(error.message, "danger");
        }
    };
}

/** Hexadecimal digits in pairs as base64; null for what isn't that. */
function fromHex(text) {
    const digits = text.replace(/\s+/g, "");
    if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) return null;
    return btoa(String.fromCharCode(...(digits.match(/../g) ?? []).map((pair) => parseInt(pair, 16))));
}

function sendForm(id) {
    const kind = make(
        "select",
        { name: "kind", "aria-label": t("kind") },
        make("option", { value: "text", text: t("text") }),
        make("option", { value: "binary", text: t("hex") }),
    );
    const text = make("input", {
        type: "text",
        name: "text",
        class: "grow mono",
        "aria-label": t("message"),
        autocomplete: "off",
    });
    return make(
        "form",
        {
            class: "tools send",
            onsubmit: failing(async () => {
                const wish = { id };
                if (kind.value === "text") wish.text = text.value;
                else wish.data = fromHex(text.value);
                if (wish.data === null) throw new Error(t("notHex"));
                await post("connections/send", wish);
                text.value = "";
            }),
        },
        kind,
        text,
        make("button", { type: "submit", class: "primary", text: t("send") }),
        make("button", {
            type: "button",
            text: t("ping"),
            onclick: async () => {
                try {
                    const { seconds } = await post("connections/ping", { id });
                    say(t("pong", { time: duration(seconds) }));
                } catch (error) {
                    say(error.message, "danger");
                }
            },
        }),
    );
}

function endForm(id, isWebSocket) {
    const fields = isWebSocket
        ? [
              make("input", {
                  type: "number",
                  name: "code",
                  value: "1000",
                  min: "1000",
                  max: "4999",
                  "aria-label": t("closeCode"),
              }),
              make("input", {
                  type: "text",
                  name: "reason",
                  class: "grow",
                  maxlength: "123",
                  placeholder: t("reason"),
                  "aria-label": t("reason"),
              }),
          ]
        : [];
    return make(
        "form",
        {
            class: "tools",
            onsubmit: failing((form) =>
                post("connections/close", {
                    id,
                    ...(isWebSocket ? { code: Number(form.get("code")), reason: form.get("reason") } : {}),
                }),
            ),
        },
        ...fields,
        make("button", { type: "submit", class: "danger", text: t("closeConnection") }),
        make("button", {
            type: "button",
            class: "danger",
            text: t("resetConnection"),
            onclick: () => post("connections/reset", { id }).catch((error) => say(error.message, "danger")),
        }),
    );
}

export function openConnection(place, id, allows) {
    const known = make("div", { class: "pane" });
    const gone = make("p", { class: "notice", text: t("connectionGone"), hidden: true });
    const course = make("div");
    const actions = make("div", { class: "actions" });
    let frames = null;
    let kind = null;
    place.append(make("h3", { text: id }), gone, known, course, actions);

    function begin(entry) {
        kind = entry.kind;
        const isWebSocket = kind === "webSocket";
        if (isWebSocket) {
            get("connections/one", { id })
                .then(({ timeline }) => {
                    if (timeline) course.append(waterfall(timeline));
                })
                .catch(() => {});
            if (allows.has("sending")) actions.append(sendForm(id));
        }
        if (allows.has("killing") && ["webSocket", "http", "events"].includes(kind))
            actions.append(endForm(id, isWebSocket));
        if (isWebSocket) {
            frames = showFrames(place, id, {
                har: address("connections/har", { id }),
                pcapng: address("connections/pcapng", { id }),
            });
        }
    }

    return {
        update(entry) {
            gone.hidden = entry !== undefined || kind === null;
            if (!entry) return;
            if (kind === null) begin(entry);
            known.replaceChildren(facts(entry));
        },
        close() {
            frames?.close();
        },
    };
}
