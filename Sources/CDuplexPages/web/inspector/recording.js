// SPDX-License-Identifier: Apache-2.0
// An entry of a recording: a request with its response, or a WebSocket with its frames.

import { get } from "./api.js";
import { make } from "./dom.js";
import { foreign } from "./foreign.js";
import { bytes, clock, duration } from "./format.js";
import { button } from "./icons.js";
import { say } from "./notices.js";
import { messageParts, payload, preview } from "./payload.js";
import { t } from "./texts.js";

const message = (title, fields, body) => messageParts(title, fields, body, t("notInRecording"));

async function copy(text, place) {
    place.textContent = text;
    place.hidden = false;
    try {
        await navigator.clipboard.writeText(text);
        say(t("inClipboard"));
    } catch {
        say(t("shownInstead"));
    }
}

function showRequest(place, { request, curl }) {
    const command = make("pre", { class: "text", hidden: true });
    place.append(
        foreign("h3", `${request.method} ${request.url}`),
        make(
            "div",
            { class: "tools" },
            curl === undefined ? "" : button("copy", { text: t("copyCurl"), onclick: () => copy(curl, command) }),
        ),
        command,
        foreign("p", `${request.status || t("noResponse")} ${request.reason ?? ""}, ${duration(request.total)}`),
        request.error ? foreign("p", request.error, { class: "notice" }) : "",
        ...message(t("request"), request.requestHeaders, request.requestBody),
        ...message(t("response"), request.responseHeaders, request.responseBody),
    );
}

function frameRow(frame, opened) {
    const show = (row) => {
        for (const other of row.parentElement.querySelectorAll("[aria-selected]"))
            other.removeAttribute("aria-selected");
        row.setAttribute("aria-selected", "true");
        opened.hidden = false;
        opened.replaceChildren(make("h5", { text: t("frameNumber", { number: frame.number + 1 }) }), payload(frame));
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
            make("span", {
                class: "arrow",
                "aria-label": frame.out ? t("frameOut") : t("frameIn"),
                text: frame.out ? "↑" : "↓",
            }),
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
        placeholder: t("filterFrames"),
        "aria-label": t("filterFrames"),
        oninput: draw,
    });
    const body = make("tbody");
    const state = make("p", { class: "soft", role: "status" });
    const opened = make("div", { class: "pane opened", hidden: true });
    const more = button("download", { text: t("more"), onclick: load });
    place.append(
        make("h4", { text: t("frames") }),
        make("div", { class: "tools" }, filter, more),
        state,
        make(
            "div",
            { class: "grid-frame frames" },
            make(
                "table",
                { class: "grid", "aria-label": t("frames") },
                make(
                    "thead",
                    {},
                    make(
                        "tr",
                        {},
                        ...[t("time"), t("frame"), t("size"), t("payload")].map((text) =>
                            make("th", { scope: "col", text }),
                        ),
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
        state.textContent = t("loadedCount", { found: wanted.length, count: frames.length, total });
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

/** How a WebSocket has ended. */
function endOf({ ended, code, reason }) {
    if (ended === undefined) return t("stillOpen");
    if (!code) return reason ? t("closedFor", { reason }) : t("closed");
    return t(reason ? "closedWithFor" : "closedWith", { code: `${code}`, reason });
}

async function showWebSocket(place, recording, entry, socket) {
    const { handshake } = socket;
    place.append(foreign("h3", handshake.url), foreign("p", endOf(socket)));
    if (socket.subprotocol) place.append(foreign("p", t("subprotocolIs", { name: socket.subprotocol })));
    if (socket.lost) place.append(make("p", { class: "lost-items", text: t("framesBefore", { count: socket.lost }) }));
    for (const error of socket.errors)
        place.append(foreign("p", `${clock(error.time)} ${error.message}`, { class: "notice" }));
    await showFrames(place, recording, entry);
    place.append(
        ...message(t("request"), handshake.requestHeaders, handshake.requestBody),
        ...message(t("response"), handshake.responseHeaders, handshake.responseBody),
    );
}

/** Shows an entry in a place. */
export async function showEntry(place, recording, entry) {
    const found = await get("recordings/entry", { recording, entry });
    if (found.request) showRequest(place, found);
    else await showWebSocket(place, recording, entry, found);
}
