// SPDX-License-Identifier: Apache-2.0
// The dialog that shows a file: pictures, sound, video, PDF and text. The arrow keys go on to the next file.

import { server } from "./api.js";
import { show } from "./dialogs.js";
import { make } from "./dom.js";
import { formatMoment, formatSize } from "./format.js";
import { button, icon } from "./icons.js";
import { kindOf } from "./kinds.js";
import { announce } from "./notices.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const mostText = 256 << 10;

/** The first bytes of a text, whatever its length is: the rest isn't fetched. */
async function beginning(url, signal) {
    const answer = await server.request(url, { headers: { range: `bytes=0-${mostText - 1}` }, signal });
    const reader = answer.body.getReader();
    const parts = [];
    let length = 0;
    while (length < mostText) {
        const { done, value } = await reader.read();
        if (done) break;
        parts.push(value.subarray(0, mostText - length));
        length += value.length;
    }
    await reader.cancel();
    return new Blob(parts).arrayBuffer();
}

/** Text in UTF-8, or in UTF-16 where a mark at its start says so. */
function decode(bytes) {
    const [first, second] = new Uint8Array(bytes);
    const marks = { 0xfffe: "utf-16le", 0xfeff: "utf-16be" };
    return new TextDecoder(marks[(first << 8) | second] ?? "utf-8").decode(bytes);
}

class Preview {
    #entries;
    #place;
    #title;
    #body = make("div", { class: "stage" });
    #facts = make("p", { class: "soft facts" });
    #count = make("span", { class: "soft count" });
    #save = make("a", { class: "button", download: "" });
    #control = null;

    constructor(entries, entry, dialog, end) {
        this.#entries = entries;
        this.#place = entries.indexOf(entry);
        this.#title = dialog.querySelector("h2");
        const quiet = (name, onclick) => button(name, { label: t(name), class: "quiet", onclick });
        const previous = quiet("previous", () => this.#step(-1));
        const next = quiet("next", () => this.#step(1));
        const close = quiet("close", () => end(this.#entry));
        this.#save.append(icon("download"), make("span", { text: t("download") }));
        const parts = [this.#title, this.#count, previous, next, this.#save, close];
        dialog.append(make("div", { class: "head" }, ...parts), this.#body, this.#facts);
        dialog.addEventListener("keydown", (event) => this.#pressed(event));
        dialog.addEventListener("cancel", (event) => {
            event.preventDefault();
            end(this.#entry);
        });
        dialog.addEventListener("close", () => this.#control?.abort());
        for (const one of [previous, next]) one.hidden = entries.length < 2;
        this.#show();
    }

    get #entry() {
        return this.#entries[this.#place];
    }

    #step(step) {
        this.#place = (this.#place + step + this.#entries.length) % this.#entries.length;
        this.#show();
        announce(this.#entry.name);
    }

    #pressed(event) {
        if (event.target.matches("audio, video, .text") && !event.altKey && event.key !== "Escape") return;
        if (event.key === "ArrowLeft") this.#step(-1);
        else if (event.key === "ArrowRight") this.#step(1);
        else return;
        event.preventDefault();
    }

    #show() {
        this.#control?.abort();
        this.#control = new AbortController();
        const { name, size, modified, path } = this.#entry;
        const count = { place: this.#place + 1, count: this.#entries.length };
        this.#title.textContent = name;
        this.#count.textContent = this.#entries.length > 1 ? t("ofCount", count) : "";
        this.#facts.textContent = `${formatSize(size)} · ${formatMoment(modified)}`;
        this.#save.href = address("download", { path });
        this.#body.replaceChildren(this.#stage(this.#entry));
    }

    #stage(entry) {
        const { path, name } = entry;
        const url = address("view", { path });
        const kind = kindOf(entry);
        const onerror = () => this.#none(entry);
        switch (kind) {
            case "image":
                return make("img", { src: url, alt: name, onerror });
            case "audio":
            case "video":
                return make(kind, { src: url, controls: true, playsinline: true, "aria-label": name, onerror });
            case "pdf":
                return make("iframe", { src: url, title: name, referrerpolicy: "no-referrer" });
            case "text":
            case "code":
            case "table":
                return this.#isText(entry) ? this.#text(entry, url) : this.#nothing(entry);
            default:
                return this.#nothing(entry);
        }
    }

    /** Documents of offices are no text, though they are of a kind with it. */
    #isText({ type, name }) {
        return (
            !/officedocument|msword|ms-excel|opendocument|rtf/.test(type ?? "") &&
            !/\.(docx?|xlsx?|od[ts]|rtf|numbers)$/i.test(name)
        );
    }

    #text(entry, url) {
        const node = make("pre", { class: "text", tabindex: 0, role: "document", "aria-label": entry.name });
        const { signal } = this.#control;
        beginning(url, signal).then(
            (bytes) => {
                if (signal.aborted) return;
                node.textContent = decode(bytes);
                const note = t("onlyBeginning", { size: formatSize(mostText) });
                if (entry.size > mostText) this.#facts.append(` · ${note}`);
            },
            (error) => {
                if (!signal.aborted) node.textContent = error.message;
            },
        );
        return node;
    }

    #nothing(entry) {
        return make("div", { class: "nothing" }, icon(kindOf(entry)), make("p", { text: t("noPreview") }));
    }

    #none(entry) {
        if (entry === this.#entry) this.#body.replaceChildren(this.#nothing(entry));
    }
}

/** Shows a file of several; returns the last that was shown. */
export function preview(entries, entry) {
    return show(entry.name, (dialog, end) => new Preview(entries, entry, dialog, end), { name: "preview" });
}
