// SPDX-License-Identifier: Apache-2.0
// Recordings: the process's own, and archives (HAR) that were chosen or dropped; the server reads and keeps them.

import { get, post } from "./api.js";
import { make } from "./dom.js";
import { foreign } from "./foreign.js";
import { bytes, clock, count, duration } from "./format.js";
import { button } from "./icons.js";
import { say } from "./notices.js";
import { showEntry } from "./recording.js";
import { showReplay } from "./replay.js";
import { address, Problem } from "./server.js";
import { t } from "./texts.js";

const columns = [t("time"), t("method"), t("url"), t("status"), t("size"), t("took")];
const largest = 32 * 1024 * 1024;

async function upload(file) {
    if (file.size > largest) throw new Problem(413, t("fileTooLarge", { name: file.name, size: bytes(largest) }));
    const answer = await fetch(address("recordings/import", { name: file.name }), {
        method: "POST",
        body: file,
        headers: { accept: "application/json", "content-type": "application/json" },
    });
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Problem(answer.status, body.detail ?? t("refused", { status: answer.status }));
    return body.id;
}

function link(recording, entry) {
    const query = new URLSearchParams({ recording, ...(entry && { entry }) });
    return `#recordings?${query}`;
}

function tone(status) {
    return status >= 500 || status === 0 ? "badge bad" : status >= 400 ? "badge" : "badge good";
}

export async function open(main, { parameters, allows }) {
    let recordings = [];
    let entries = [];
    let total = 0;
    let current = null;
    let shownEntry = null;
    let turn = 0;

    const chooser = make("input", {
        type: "file",
        accept: ".har,.json,application/json",
        hidden: true,
        "aria-label": t("archive"),
        onchange: () => take([...chooser.files]),
    });
    const which = make("select", {
        "aria-label": t("recording"),
        onchange: () => {
            location.hash = link(which.value);
        },
    });
    const har = make("a", { class: "button", download: "", text: t("har") });
    const pcapng = make("a", { class: "button", download: "", text: t("pcapng") });
    const forget = button("trash", {
        label: t("forgetRecording"),
        onclick: async () => {
            await post("recordings/remove", { recording: Number(current) }).catch((error) =>
                say(error.message, "danger"),
            );
            location.hash = "recordings";
            await load(new URLSearchParams());
        },
    });
    const again = button("again", {
        label: t("lookAgain"),
        onclick: () => load(new URLSearchParams(location.hash.split("?")[1] ?? "")),
    });
    const filter = make("input", {
        type: "search",
        class: "grow",
        placeholder: t("filter"),
        "aria-label": t("filter"),
        oninput: draw,
    });
    const state = make("p", { class: "soft", role: "status" });
    const body = make("tbody");
    const list = make(
        "div",
        { class: "grid-frame list" },
        make(
            "table",
            { class: "grid", "aria-label": t("entries") },
            make("thead", {}, make("tr", {}, ...columns.map((text) => make("th", { scope: "col", text })))),
            body,
        ),
    );
    const detail = make("section", { class: "detail", "aria-label": t("entry"), hidden: true });
    const replay = make("section", { class: "replay", "aria-label": t("replay") });
    main.append(
        make(
            "div",
            { class: "tools" },
            button("upload", { text: t("importHAR"), onclick: () => chooser.click() }),
            chooser,
            which,
            again,
            forget,
            har,
            pcapng,
            filter,
        ),
        state,
        list,
        detail,
        replay,
    );

    function row(entry) {
        const url = link(current, entry.id);
        const node = make(
            "tr",
            {
                class: "choice",
                tabindex: "0",
                "data-entry": entry.id,
                "aria-selected": entry.id === shownEntry && "true",
                onclick: () => {
                    location.hash = url;
                },
                onkeydown: (event) => {
                    if (event.key === "Enter") location.hash = url;
                },
            },
            make("td", { class: "number", text: clock(entry.began) }),
            foreign("td", entry.method),
            foreign("td", entry.url, { class: "mono" }),
            make("td", {}, make("span", { class: tone(entry.status), text: entry.status || t("none") })),
            make("td", {
                class: "number",
                text: entry.frames === undefined ? bytes(entry.size) : t("frameCount", { count: entry.frames }),
            }),
            make("td", { class: "number", text: duration(entry.total) }),
        );
        return node;
    }

    function draw() {
        const text = filter.value.toLowerCase();
        const wanted = entries.filter((entry) =>
            `${entry.method} ${entry.url} ${entry.status}`.toLowerCase().includes(text),
        );
        body.replaceChildren(...wanted.map(row));
        const recording = recordings.find((one) => `${one.id}` === current);
        const parts = [t("entryCount", { found: wanted.length, count: total })];
        if (recording?.skipped) parts.push(t("unreadCount", { count: recording.skipped }));
        if (total > entries.length) parts.push(t("listedCount", { count: entries.length }));
        state.textContent = recordings.length === 0 ? t("nothingRecorded") : `${parts.join("; ")}.`;
    }

    async function load(wanted) {
        const mine = ++turn;
        try {
            recordings = (await get("recordings/list")).recordings;
            const ids = recordings.map((one) => `${one.id}`);
            const id = ids.includes(wanted.get("recording")) ? wanted.get("recording") : (ids.at(-1) ?? null);
            const found = id === null ? { entries: [], total: 0 } : await get("recordings/entries", { recording: id });
            if (mine !== turn) return;
            ({ entries, total } = found);
            current = id;
            which.replaceChildren(
                ...recordings.map((one) =>
                    foreign("option", `${one.name} (${count(one.requests + one.webSockets)})`, {
                        value: one.id,
                        selected: `${one.id}` === current,
                    }),
                ),
            );
            which.hidden = har.hidden = pcapng.hidden = current === null;
            forget.hidden = current === null || current === "0";
            if (current !== null) {
                har.href = address("recordings/har", { recording: current });
                pcapng.href = address("recordings/pcapng", { recording: current });
            }
            showReplay(replay, { recording: current, entries, allows, link });
            await showDetail(entries.some((one) => one.id === wanted.get("entry")) ? wanted.get("entry") : null);
        } catch (error) {
            say(error.message, "danger");
        }
        draw();
    }

    async function showDetail(entry) {
        shownEntry = entry;
        detail.hidden = entry === null;
        main.classList.toggle("with-detail", entry !== null);
        detail.replaceChildren();
        if (entry === null) return;
        detail.append(
            button("close", {
                label: t("close"),
                class: "quiet close",
                onclick: () => {
                    location.hash = link(current);
                },
            }),
        );
        await showEntry(detail, current, entry);
    }

    async function take(files) {
        chooser.value = "";
        for (const file of files) {
            try {
                const id = await upload(file);
                say(t("fileIsHere", { name: file.name }));
                location.hash = link(id);
            } catch (error) {
                say(error.message, "danger");
            }
        }
    }

    const over = (event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        main.classList.toggle("dropping", event.type === "dragover");
    };
    const drop = (event) => {
        over(event);
        if (event.dataTransfer?.files.length) take([...event.dataTransfer.files]);
    };
    main.addEventListener("dragover", over);
    main.addEventListener("dragleave", over);
    main.addEventListener("drop", drop);

    async function change(wanted) {
        if (current !== null && wanted.get("recording") === current) {
            await showDetail(wanted.get("entry")).catch((error) => say(error.message, "danger"));
            return draw();
        }
        await load(wanted);
    }

    await load(parameters);
    return {
        change,
        close: () => {
            main.removeEventListener("dragover", over);
            main.removeEventListener("dragleave", over);
            main.removeEventListener("drop", drop);
        },
    };
}
