// SPDX-License-Identifier: Apache-2.0
// One connection: what is known of it, how it came about, what may be done with it, and its frames.

import { get, post } from "./api.js";
import { make } from "./dom.js";
import { foreign } from "./foreign.js";
import { bytes, count, duration } from "./format.js";
import { showFrames } from "./frames.js";
import { say } from "./notices.js";
import { address } from "./server.js";
import { waterfall } from "./waterfall.js";

function facts(entry) {
    const list = make("dl", { class: "facts" });
    const add = (name, value) => {
        if (value === undefined || value === null || value === "") return;
        list.append(make("dt", { text: name }), foreign("dd", value));
    };
    const trips = entry.roundTrips;
    add("State", entry.state);
    add("Peer", entry.peer);
    add("This side", entry.local);
    add("Route or URL", entry.place);
    add("Security", entry.security ?? "none");
    add("Subprotocol", entry.subprotocol);
    add("Compression", entry.compression);
    add("Open for", duration(entry.age));
    if (entry.bytesIn !== undefined) {
        add(
            "Received",
            `${entry.messagesIn === undefined ? "" : `${count(entry.messagesIn)} messages, `}${bytes(entry.bytesIn)}`,
        );
        add(
            "Sent",
            `${entry.messagesOut === undefined ? "" : `${count(entry.messagesOut)} messages, `}${bytes(entry.bytesOut)}`,
        );
    }
    add("To be sent", entry.queued === undefined ? null : bytes(entry.queued));
    add("Waiting for the app", entry.inbox);
    add("Dropped, as it was behind", entry.dropped);
    add(
        "Round trips",
        trips &&
            `last ${duration(trips.last)}, least ${duration(trips.least)}, median ` +
                `${duration(trips.median)}, 99 % within ${duration(trips.p99)}, of ${count(trips.count)}`,
    );
    add("Note", entry.note);
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
        { name: "kind", "aria-label": "Kind" },
        make("option", { value: "text", text: "Text" }),
        make("option", { value: "binary", text: "Hex" }),
    );
    const text = make("input", {
        type: "text",
        name: "text",
        class: "grow mono",
        "aria-label": "Message",
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
                if (wish.data === null) throw new Error("Those aren't pairs of hexadecimal digits.");
                await post("connections/send", wish);
                text.value = "";
            }),
        },
        kind,
        text,
        make("button", { type: "submit", class: "primary", text: "Send" }),
        make("button", {
            type: "button",
            text: "Ping",
            onclick: async () => {
                try {
                    say(`The pong came after ${duration((await post("connections/ping", { id })).seconds)}.`);
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
                  "aria-label": "Close code",
              }),
              make("input", {
                  type: "text",
                  name: "reason",
                  class: "grow",
                  maxlength: "123",
                  placeholder: "Reason",
                  "aria-label": "Reason",
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
        make("button", { type: "submit", class: "danger", text: "Close" }),
        make("button", {
            type: "button",
            class: "danger",
            text: "Reset",
            onclick: () => post("connections/reset", { id }).catch((error) => say(error.message, "danger")),
        }),
    );
}

export function openConnection(place, id, allows) {
    const known = make("div", { class: "pane" });
    const gone = make("p", { class: "notice", text: "This connection is gone.", hidden: true });
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
