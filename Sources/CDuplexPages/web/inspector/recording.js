// SPDX-License-Identifier: Apache-2.0
// An entry of a recording: a request with its response, or a WebSocket with its frames.

import { get } from "./api.js";
import { make } from "./dom.js";
import { foreign } from "./foreign.js";
import { bytes, clock, count, duration } from "./format.js";
import { button } from "./icons.js";
import { say } from "./notices.js";
import { messageParts, payload, preview } from "./payload.js";

const message = (title, fields, body) => messageParts(title, fields, body, "It isn't in the recording.");

async function copy(text, place) {
    place.textContent = text;
    place.hidden = false;
    try {
        await navigator.clipboard.writeText(text);
        say("It is in the clipboard.");
    } catch {
        say("The browser doesn't let this page use the clipboard: it is shown instead.");
    }
}

function showRequest(place, { request, curl }) {
    const command = make("pre", { class: "text", hidden: true });
    place.append(
        foreign("h3", `${request.method} ${request.url}`),
        make(
            "div",
            { class: "tools" },
            curl === undefined ? "" : button("copy", { text: "Copy as curl", onclick: () => copy(curl, command) }),
        ),
        command,
        foreign("p", `${request.status || "No response"} ${request.reason ?? ""}, ${duration(request.total)}`),
        request.error ? foreign("p", request.error, { class: "notice" }) : "",
        ...message("Request", request.requestHeaders, request.requestBody),
        ...message("Response", request.responseHeaders, request.responseBody),
    );
}

function frameRow(frame, opened) {
    const show = (row) => {
        for (const other of row.parentElement.querySelectorAll("[aria-selected]"))
            other.removeAttribute("aria-selected");
        row.setAttribute("aria-selected", "true");
        opened.hidden = false;
        opened.replaceChildren(make("h5", { text: `Frame ${count(frame.number + 1)}` }), payload(frame));
    };
    return make(
        "tr",
        {
            class: `choice ${frame.out ? "out" : "in"}`,
            tabindex: "0",
            onclick: (event) => show(event.currentTarget),
            onkeydown: (event) => {
                if (event.key === "Enter") show(event.currentTarget);
            },
        },
        make("td", { class: "number", text: clock(frame.time) }),
        make(
            "td",
            {},
            make("span", { class: "arrow", "aria-label": frame.out ? "out" : "in", text: frame.out ? "↑" : "↓" }),
            " ",
            make("span", { class: "badge", text: frame.opcode }),
            frame.final ? "" : " …",
        ),
        make("td", { class: "number", text: bytes(frame.size) }),
        foreign("td", preview(frame), { class: "mono payload" }),
    );
}

function showFrames(place, recording, entry) {
    let frames = [];
    let total = 0;
    const filter = make("input", {
        type: "search",
        class: "grow",
        placeholder: "Filter frames",
        "aria-label": "Filter frames",
        oninput: draw,
    });
    const body = make("tbody");
    const state = make("p", { class: "soft", role: "status" });
    const opened = make("div", { class: "pane opened", hidden: true });
    const more = button("download", { text: "More", onclick: load });
    place.append(
        make("h4", { text: "Frames" }),
        make("div", { class: "tools" }, filter, more),
        state,
        make(
            "div",
            { class: "grid-frame frames" },
            make(
                "table",
                { class: "grid", "aria-label": "Frames" },
                make(
                    "thead",
                    {},
                    make(
                        "tr",
                        {},
                        ...["Time", "Frame", "Size", "Payload"].map((text) => make("th", { scope: "col", text })),
                    ),
                ),
                body,
            ),
        ),
        opened,
    );

    function draw() {
        const text = filter.value.toLowerCase();
        const wanted = frames.filter((frame) =>
            `${frame.opcode} ${frame.text ?? preview(frame)}`.toLowerCase().includes(text),
        );
        body.replaceChildren(...wanted.map((frame) => frameRow(frame, opened)));
        state.textContent = `${count(wanted.length)} of ${count(frames.length)} that are loaded; ${count(total)} are recorded.`;
        more.hidden = frames.length >= total;
    }

    async function load() {
        const news = await get("recordings/frames", { recording, entry, from: frames.length });
        frames = [...frames, ...news.frames];
        total = news.total;
        draw();
    }

    return load();
}

async function showWebSocket(place, recording, entry, socket) {
    const { handshake } = socket;
    const end =
        socket.ended === undefined
            ? "It was still open."
            : `It was closed${socket.code ? ` with ${socket.code}` : ""}${socket.reason ? `: ${socket.reason}` : ""}.`;
    place.append(foreign("h3", handshake.url), foreign("p", end));
    if (socket.subprotocol) place.append(foreign("p", `Subprotocol: ${socket.subprotocol}`));
    if (socket.lost)
        place.append(
            make("p", { class: "lost-items", text: `${count(socket.lost)} frames before these weren't kept.` }),
        );
    for (const error of socket.errors)
        place.append(foreign("p", `${clock(error.time)} ${error.message}`, { class: "notice" }));
    await showFrames(place, recording, entry);
    place.append(
        ...message("Request", handshake.requestHeaders, handshake.requestBody),
        ...message("Response", handshake.responseHeaders, handshake.responseBody),
    );
}

/** Shows an entry in a place. */
export async function showEntry(place, recording, entry) {
    const found = await get("recordings/entry", { recording, entry });
    if (found.request) showRequest(place, found);
    else await showWebSocket(place, recording, entry, found);
}
