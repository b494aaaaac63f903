// SPDX-License-Identifier: Apache-2.0
// Frames as they go: the newest at the end, the last thousand shown, filtered, held.

import { get } from "./api.js";
import { make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { bytes, clock, count } from "./format.js";
import { button, changeIcon } from "./icons.js";
import { watch } from "./live.js";
import { payload, preview } from "./payload.js";
import { t } from "./texts.js";

const limit = 1000;

function line(frame, open) {
    const size = !frame.compressed
        ? bytes(frame.size)
        : t("wireSize", { size: bytes(frame.size), wire: bytes(frame.wire) });
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
            make("span", {
                class: "arrow",
                "aria-label": frame.out ? t("frameOut") : t("frameIn"),
                text: frame.out ? "↑" : "↓",
            }),
            " ",
            make("span", { class: "badge", text: frame.opcode }),
            frame.final ? "" : " …",
            frame.compressed ? make("span", { class: "badge good", text: t("compressed") }) : "",
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
        placeholder: t("filterFrames"),
        "aria-label": t("filterFrames"),
        oninput: draw,
    });
    const kind = make(
        "select",
        { "aria-label": t("whichFrames"), onchange: draw },
        ...[
            ["", t("allFrames")],
            ["in", t("in")],
            ["out", t("out")],
            ["text", t("textFrames")],
            ["binary", t("binaryFrames")],
            ["control", t("controlFrames")],
        ].map(([value, text]) => make("option", { value, text })),
    );
    const hold = button("pause", {
        label: t("pause"),
        onclick: () => {
            isHeld = !isHeld;
            changeIcon(hold, isHeld ? "play" : "pause");
            hold.setAttribute("aria-label", isHeld ? t("goOn") : t("pause"));
            if (!isHeld) take([]);
        },
    });
    const clear = button("trash", {
        label: t("clear"),
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
            { class: "grid", "aria-label": t("frames") },
            make(
                "thead",
                {},
                make(
                    "tr",
                    {},
                    ...["#", t("time"), t("frame"), t("size"), t("payload")].map((text) =>
                        make("th", { scope: "col", text }),
                    ),
                ),
            ),
            body,
        ),
    );
    const shown = make("div", { class: "pane opened", hidden: true });
    const links = Object.entries(exports).map(([name, href]) =>
        make("a", { class: "button", href, download: "", text: name === "har" ? t("har") : t("pcapng") }),
    );
    const part = make(
        "section",
        { "aria-label": t("frames") },
        make("h4", { text: t("frames") }),
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
        const counts = { count: frames.length, waiting: waiting.length, limit };
        state.textContent = t(isHeld ? "framesHeld" : "framesShown", counts);
        losses.textContent = lost ? t("framesLost", { count: lost }) : "";
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
        shown.replaceChildren(make("h5", { text: t("frameNumber", { number: frame.number + 1 }) }), payload(whole));
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
    state.textContent = t("framesBegin");
    return { close: end };
}
