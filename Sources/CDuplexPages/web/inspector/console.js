// SPDX-License-Identifier: Apache-2.0
// The console: what the process writes and logs. 10,000 lines are kept here, of which 1,000 are drawn; more on demand.

import { isWanted, levels, pattern, row } from "./console-lines.js";
import { make } from "./dom.js";
import { button, changeIcon, icon } from "./icons.js";
import { watch } from "./live.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const keptLines = 10000;
const drawnLines = 1000;
const names = { log: t("log"), output: t("output"), error: t("errors") };

export function open(main, { parameters }) {
    let entries = [];
    let lost = 0;
    // Lines that come while they aren't shown, and such that wait for the next frame.
    let waiting = 0;
    let fresh = [];
    let frame = 0;
    let isPaused = false;
    let isAtEnd = true;
    let lastTop = 0;
    let filter = null;
    let typing = 0;

    // MARK: The tools

    const field = make("input", {
        type: "search",
        class: "grow",
        id: "console-text",
        "aria-label": t("textToFind"),
        placeholder: t("filter"),
        autocomplete: "off",
        spellcheck: "false",
    });
    const level = make(
        "select",
        { id: "console-level", "aria-label": t("lowestLevel") },
        ...levels.map((name, index) =>
            make("option", { value: name, text: index === 0 ? t("allLevels") : t("levelAndUp", { level: name }) }),
        ),
    );
    const boxes = Object.entries(names).map(([kind, text]) => {
        const box = make("input", { type: "checkbox", id: `console-${kind}`, value: kind });
        box.checked = true;
        return { box, label: make("label", { class: "choice-box" }, box, make("span", { text })) };
    });
    const pause = button("pause", { label: t("pause"), id: "console-pause", "aria-pressed": "false" });
    const clear = button("trash", { label: t("clearPage"), id: "console-clear" });
    const download = make(
        "a",
        {
            class: "button",
            id: "console-download",
            download: "console.txt",
            "aria-label": t("downloadText"),
            title: t("downloadText"),
            href: "#",
        },
        icon("download"),
    );
    const status = make("span", { class: "soft console-status", id: "console-status" });
    const newest = make("button", { type: "button", id: "console-newest", class: "primary", hidden: true });
    const earlier = make("button", {
        type: "button",
        id: "console-earlier",
        class: "quiet",
        text: t("earlierLines"),
        hidden: true,
    });
    const list = make("div", { class: "lines", id: "console-lines" });
    // It isn't read out by itself: nobody could listen to that.
    const frameNode = make(
        "div",
        {
            class: "grid-frame console-frame",
            id: "console-frame",
            tabindex: "0",
            role: "log",
            "aria-live": "off",
            "aria-label": t("consoleLines"),
        },
        earlier,
        list,
    );

    // MARK: What is shown

    const isHeld = () => isPaused || !isAtEnd;

    function tell() {
        const parts = [t("lineCount", { count: entries.length })];
        if (lost > 0) parts.push(t("lostCount", { count: lost }));
        if (isPaused) parts.push(t("paused"));
        status.textContent = parts.join(" · ");
        newest.hidden = waiting === 0;
        if (waiting > 0) newest.textContent = t("newLines", { count: waiting });
    }

    function draw(some) {
        return some.map((entry) => {
            const node = row(entry, filter.search);
            node.entry = entry;
            return node;
        });
    }

    function toEnd() {
        frameNode.scrollTop = frameNode.scrollHeight;
    }

    /** Whether there are lines above the first one that is drawn. */
    function lookUp() {
        const first = list.firstElementChild?.entry;
        const above = first ? entries.slice(0, Math.max(0, entries.indexOf(first))) : [];
        earlier.hidden = !above.some((entry) => isWanted(entry, filter));
    }

    /** Draws the last lines anew. */
    function redraw() {
        fresh = [];
        waiting = 0;
        list.replaceChildren(...draw(entries.filter((entry) => isWanted(entry, filter)).slice(-drawnLines)));
        lookUp();
        tell();
        if (!isPaused) isAtEnd = true;
        toEnd();
    }

    /** Draws what has come since the last frame. */
    function drawFresh() {
        frame = 0;
        if (isHeld()) {
            waiting += fresh.length;
            fresh = [];
        } else {
            const some = fresh.slice(-drawnLines);
            fresh = [];
            const surplus = list.childElementCount + some.length - drawnLines;
            if (surplus >= list.childElementCount) list.replaceChildren();
            else for (let left = surplus; left > 0; left -= 1) list.firstElementChild.remove();
            list.append(...draw(some));
            if (surplus > 0) earlier.hidden = false;
            toEnd();
        }
        tell();
    }

    function take(items, { lost: gone }) {
        if (gone > 0) {
            lost += gone;
            items.unshift({ lost: gone });
        }
        entries.push(...items);
        if (entries.length > keptLines) entries = entries.slice(-keptLines);
        for (const item of items) if (isWanted(item, filter)) fresh.push(item);
        if (fresh.length > drawnLines && !isHeld()) fresh = fresh.slice(-drawnLines);
        frame ||= requestAnimationFrame(drawFresh);
    }

    function showEarlier() {
        const first = list.firstElementChild?.entry;
        const wanted = entries.slice(0, Math.max(0, entries.indexOf(first))).filter((entry) => isWanted(entry, filter));
        const height = frameNode.scrollHeight;
        list.prepend(...draw(wanted.slice(-drawnLines)));
        frameNode.scrollTop += frameNode.scrollHeight - height;
        lookUp();
    }

    // MARK: The filter

    function query() {
        const kinds = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
        return {
            level: level.value === "trace" ? null : level.value,
            text: field.value || null,
            kinds: kinds.length === boxes.length ? null : kinds.join(","),
        };
    }

    function readFilter() {
        const kinds = new Set(boxes.filter(({ box }) => box.checked).map(({ box }) => box.value));
        filter = { level: levels.indexOf(level.value), kinds, search: pattern(field.value) };
    }

    function filterChanged() {
        readFilter();
        const wish = new URLSearchParams(Object.entries(query()).filter(([, value]) => value !== null));
        const text = wish.toString();
        history.replaceState(null, "", text === "" ? "#console" : `#console?${text}`);
        redraw();
    }

    function change(wish) {
        const before = filter && JSON.stringify(query());
        level.value = levels.includes(wish.get("level")) ? wish.get("level") : "trace";
        field.value = wish.get("text") ?? "";
        const kinds = wish.get("kinds")?.split(",");
        for (const { box } of boxes) box.checked = !kinds || kinds.includes(box.value);
        // Lines that stay as they are stay where they are: somebody may be about to click on one.
        if (before === JSON.stringify(query())) return;
        readFilter();
        redraw();
    }

    // MARK: What is done

    function setPaused(wanted) {
        isPaused = wanted;
        pause.setAttribute("aria-pressed", `${isPaused}`);
        const label = isPaused ? t("goOn") : t("pause");
        pause.setAttribute("aria-label", label);
        pause.title = label;
        changeIcon(pause, isPaused ? "play" : "pause");
        if (isPaused) tell();
        else redraw();
    }

    field.addEventListener("input", () => {
        clearTimeout(typing);
        typing = setTimeout(filterChanged, 120);
    });
    level.addEventListener("change", filterChanged);
    for (const { box } of boxes) box.addEventListener("change", filterChanged);
    pause.addEventListener("click", () => setPaused(!isPaused));
    clear.addEventListener("click", () => {
        entries = [];
        lost = 0;
        redraw();
    });
    download.addEventListener("click", () => {
        const { level: lowest, text, kinds } = query();
        // Where both streams are one, they count as output.
        download.href = address("console/history", {
            level: lowest,
            text,
            kinds: kinds?.replace("output", "output,both"),
        });
    });
    newest.addEventListener("click", () => {
        if (isPaused) setPaused(false);
        else redraw();
        frameNode.focus();
    });
    earlier.addEventListener("click", showEarlier);
    frameNode.addEventListener("scroll", () => {
        const { scrollTop: top, scrollHeight, clientHeight } = frameNode;
        const wasAtEnd = isAtEnd;
        // Only who scrolls up leaves the end: lines also become higher when they are drawn.
        isAtEnd = scrollHeight - top - clientHeight < 8 || (isAtEnd && top >= lastTop);
        lastTop = top;
        if (isAtEnd && !wasAtEnd && !isPaused && waiting > 0) redraw();
    });
    const sizes = new ResizeObserver(() => {
        if (!isHeld()) toEnd();
    });
    sizes.observe(list);

    main.append(
        make(
            "div",
            { class: "tools", role: "toolbar", "aria-label": t("console") },
            field,
            level,
            ...boxes.map(({ label }) => label),
            pause,
            clear,
            download,
        ),
        make("div", { class: "tools console-state" }, status, newest),
        frameNode,
    );
    change(parameters);
    const end = watch("console", take, {
        onError: (text) => {
            status.textContent = text;
        },
    });
    return {
        change,
        close() {
            end();
            sizes.disconnect();
            cancelAnimationFrame(frame);
            clearTimeout(typing);
        },
    };
}
