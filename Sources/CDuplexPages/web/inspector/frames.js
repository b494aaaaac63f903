// SPDX-License-Identifier: Apache-2.0
// Frames as they go: the newest at the end, the last thousand shown, filtered, held.

import { get } from "./api.js";
import { make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { bytes, clock, count } from "./format.js";
import { button, changeIcon } from "./icons.js";
import { watch } from "./live.js";
import { payload, preview } from "./payload.js";

const limit = 1000;

function line(frame, open) {
    const size = !frame.compressed ? bytes(frame.size) : `${bytes(frame.size)}, ${bytes(frame.wire)} on the wire`;
    const row = make(
        "tr",
        {
            class: `choice ${frame.out ? "out" : "in"}`,
            tabindex: "0",
            onclick: () => open(row, frame),
            onkeydown: (event) => {
                if (event.key === "Enter") open(row, frame);
            },
        },
        make("td", { class: "number", text: count(frame.number + 1) }),
        make("td", { class: "number", text: clock(frame.time) }),
        make(
            "td",
            {},
            make("span", { class: "arrow", "aria-label": frame.out ? "out" : "in", text: frame.out ? "↑" : "↓" }),
            " ",
            make("span", { class: "badge", text: frame.opcode }),
            frame.final ? "" : " …",
            frame.compressed ? make("span", { class: "badge good", text: "compressed" }) : "",
        ),
        make("td", { class: "number", text: size }),
        foreign("td", preview(frame), { class: "mono payload" }),
    );
    return row;
}

export function showFrames(place, id, exports) {
    let frames = [];
    let waiting = [];
    let isHeld = false;
    let lost = 0;
    const filter = make("input", {
        type: "search",
        class: "grow",
        placeholder: "Filter frames",
        "aria-label": "Filter frames",
        oninput: draw,
    });
    const kind = make(
        "select",
        { "aria-label": "Which frames", onchange: draw },
        ...[
            ["", "All"],
            ["in", "In"],
            ["out", "Out"],
            ["text", "Text"],
            ["binary", "Binary"],
            ["control", "Control"],
        ].map(([value, text]) => make("option", { value, text })),
    );
    const hold = button("pause", {
        label: "Pause",
        onclick: () => {
            isHeld = !isHeld;
            changeIcon(hold, isHeld ? "play" : "pause");
            hold.setAttribute("aria-label", isHeld ? "Go on" : "Pause");
            if (!isHeld) take([]);
        },
    });
    const clear = button("trash", {
        label: "Clear",
        onclick: () => {
            frames = [];
            waiting = [];
            lost = 0;
            draw();
            tell();
        },
    });
    const state = make("span", { class: "soft", role: "status" });
    const losses = make("span", { class: "lost-items" });
    const body = make("tbody");
    const list = make(
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
                    ...["#", "Time", "Frame", "Size", "Payload"].map((text) => make("th", { scope: "col", text })),
                ),
            ),
            body,
        ),
    );
    const shown = make("div", { class: "pane opened", hidden: true });
    const links = Object.entries(exports).map(([name, href]) =>
        make("a", { class: "button", href, download: "", text: name === "har" ? "HAR" : "pcapng" }),
    );
    const part = make(
        "section",
        { "aria-label": "Frames" },
        make("h4", { text: "Frames" }),
        make("div", { class: "tools" }, hold, clear, kind, filter, ...links),
        make("p", {}, state, " ", losses),
        list,
        shown,
    );
    place.append(part);

    function isWanted(frame) {
        const wanted = kind.value;
        const isControl = ["ping", "pong", "close"].includes(frame.opcode);
        if ((wanted === "in" && frame.out) || (wanted === "out" && !frame.out)) return false;
        if (wanted === "control" && !isControl) return false;
        if ((wanted === "text" || wanted === "binary") && frame.opcode !== wanted) return false;
        const text = filter.value.toLowerCase();
        return text === "" || preview(frame).toLowerCase().includes(text);
    }

    function tell() {
        state.textContent =
            `${count(frames.length)} frames${isHeld ? `, ${count(waiting.length)} wait` : ""}` +
            `; the last ${count(limit)} are shown, 5,000 are kept.`;
        losses.textContent = lost ? `${count(lost)} weren't shown: they came faster than they can be looked at.` : "";
    }

    function follow(change) {
        const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
        change();
        if (isAtEnd) list.scrollTop = list.scrollHeight;
    }

    function draw() {
        follow(() => body.replaceChildren(...frames.filter(isWanted).map((frame) => line(frame, open))));
    }

    function take(items) {
        if (isHeld) {
            waiting = [...waiting, ...items].slice(-limit);
            return tell();
        }
        const news = [...waiting, ...items];
        waiting = [];
        frames = [...frames, ...news].slice(-limit);
        follow(() => {
            body.append(...news.filter(isWanted).map((frame) => line(frame, open)));
            while (body.children.length > limit) body.firstElementChild.remove();
        });
        tell();
    }

    async function open(row, frame) {
        for (const other of body.querySelectorAll("[aria-selected]")) other.removeAttribute("aria-selected");
        row.setAttribute("aria-selected", "true");
        let whole = frame;
        if (frame.cut || frame.opcode === "binary")
            whole = await get("connections/frame", { id, number: frame.number }).catch(() => frame);
        shown.hidden = false;
        shown.replaceChildren(make("h5", { text: `Frame ${count(frame.number + 1)}` }), payload(whole));
    }

    const end = watch(
        "frames",
        (items, news) => {
            lost += news.lost;
            take(items);
        },
        {
            parameters: { id },
            onError: (text) => {
                state.textContent = visible(text);
            },
        },
    );
    state.textContent = "Frames are recorded from now on …";
    return { close: end };
}
