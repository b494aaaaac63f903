// SPDX-License-Identifier: Apache-2.0
// The panel that shows the uploads, and those of before the page was loaded.

import { arrange, byId, make } from "./dom.js";
import { formatDuration, formatShare, formatSize } from "./format.js";
import { button, changeIcon } from "./icons.js";
import { announce } from "./notices.js";
import { placeName } from "./picker.js";
import { Rate } from "./rate.js";
import * as resumes from "./resumes.js";
import { t } from "./texts.js";
import { UploadRow } from "./upload-row.js";

const mostRows = 60;
const interval = 250;
const ranks = ["asking", "running", "retrying", "failed", "paused", "waiting"];

export class UploadsPanel {
    #uploads;
    #rows = new Map();
    #rate = new Rate();
    #timer = null;
    #wasActive = false;
    #interrupted = [];
    #record = null;
    #order = [];
    #more = 0;
    #shownInterrupted = 0;

    /** `chooseAgain(record, file)` goes on with an upload of before. */
    constructor(uploads, chooseAgain) {
        this.#uploads = uploads;
        byId("uploads-pause").addEventListener("click", () => this.#togglePause());
        byId("uploads-fold").addEventListener("click", () => this.#toggleFold());
        byId("uploads-close").addEventListener("click", () => this.#close());
        this.#interrupted = resumes.unfinished();
        const field = byId("again");
        field.addEventListener("change", () => {
            const [file] = field.files;
            if (file && this.#record) chooseAgain(this.#record, file);
            field.value = "";
        });
        this.#draw();
    }

    /** Draws soon: progress comes more often than anyone can read it. */
    changed() {
        this.#timer ??= setTimeout(
            () => {
                this.#timer = null;
                this.#draw();
            },
            this.#wasActive ? interval : 0,
        );
    }

    #togglePause() {
        if (this.#uploads.active.length > 0) this.#uploads.pauseAll();
        else this.#uploads.resumeAll();
    }

    #toggleFold() {
        const isOpen = byId("upload-items").hidden;
        byId("upload-items").hidden = !isOpen;
        byId("uploads-fold").ariaExpanded = String(isOpen);
    }

    #close() {
        if (this.#uploads.open.length > 0) return this.#uploads.cancelAll();
        for (const { print } of this.#interrupted) resumes.forget(print);
        this.#interrupted = [];
        this.#uploads.clear();
    }

    #draw() {
        const { all, active, open } = this.#uploads;
        const running = new Set(all.map(({ print }) => print));
        this.#interrupted = this.#interrupted.filter(({ print }) => !running.has(print));
        const isNone = all.every(({ state }) => state === "cancelled");
        byId("uploads").hidden = isNone && this.#interrupted.length === 0;
        this.#drawHead(all, active, open);
        this.#drawRows(all);
        if (this.#wasActive && active.length === 0) this.#ended(all);
        this.#wasActive = active.length > 0;
    }

    #drawHead(all, active, open) {
        const count = (state) => all.filter((one) => one.state === state).length;
        const counted = all.filter(({ state }) => !["failed", "skipped", "cancelled"].includes(state));
        const total = counted.reduce((sum, { size }) => sum + size, 0);
        const sent = counted.reduce((sum, one) => sum + one.sent, 0);
        if (active.length > 0) this.#rate.note(sent, performance.now());
        else this.#rate.reset();
        byId("uploads-title").textContent = this.#title(open.length, counted.length, count("done"));
        byId("uploads-progress").hidden = all.length === 0;
        byId("uploads-progress").value = total === 0 ? Number(open.length === 0) : sent / total;
        byId("uploads-state").textContent = this.#summary(sent, total, open.length, count("failed"));
        this.#drawButtons(active.length > 0, open.length > 0);
    }

    #title(open, counted, done) {
        if (open > 0) return t("uploading", { done: done + 1, count: counted });
        if (counted > 0) return t("uploaded", { count: done });
        return this.#interrupted.length > 0 ? t("unfinished") : t("noneUploaded");
    }

    #summary(sent, total, open, failed) {
        const rate = this.#rate.value;
        const parts = open > 0 ? [t("sentOf", { sent: formatSize(sent), total: formatSize(total) })] : [];
        if (open > 0 && rate > 0) {
            parts.push(t("perSecond", { size: formatSize(rate) }));
            parts.push(t("left", { time: formatDuration((total - sent) / rate) }));
        }
        if (failed > 0) parts.push(t("failedCount", { count: failed }));
        return parts.join(" · ");
    }

    #drawButtons(isActive, isOpen) {
        const pause = byId("uploads-pause");
        pause.hidden = !isOpen;
        changeIcon(pause, isActive ? "pause" : "play");
        const name = (node, text) => {
            node.setAttribute("aria-label", text);
            node.title = text;
        };
        name(pause, t(isActive ? "pauseAll" : "resumeAll"));
        name(byId("uploads-close"), t(isOpen ? "cancelAll" : "close"));
    }

    /** Of thousands, those that run or have failed are shown, some that wait and the last that are done. */
    #drawRows(all) {
        const rank = ({ state }) => ranks.indexOf(state);
        const seen = all.filter(({ state }) => state !== "cancelled");
        const open = seen.filter((one) => rank(one) >= 0).sort((one, other) => rank(one) - rank(other));
        const over = seen.filter((one) => rank(one) < 0).reverse();
        const shown = [...open, ...over].slice(0, mostRows);
        const row = (one) => this.#rows.get(one) ?? new UploadRow(one, (gone) => this.#forget(gone));
        const rows = new Map(shown.map((one) => [one, row(one)]));
        const isSame = shown.length === this.#order.length && shown.every((one, place) => one === this.#order[place]);
        this.#rows = rows;
        this.#order = shown;
        for (const row of rows.values()) row.update();
        const more = seen.length - shown.length;
        if (isSame && this.#more === more && this.#shownInterrupted === this.#interrupted.length) return;
        this.#more = more;
        this.#shownInterrupted = this.#interrupted.length;
        const tail = more > 0 ? [make("li", { class: "soft", text: t("more", { count: more }) })] : [];
        arrange(byId("upload-items"), [
            ...this.#interrupted.map((one) => this.#offer(one)),
            ...[...rows.values()].map(({ node }) => node),
            ...tail,
        ]);
    }

    #forget(upload) {
        this.#uploads.all = this.#uploads.all.filter((one) => one !== upload);
        this.changed();
    }

    /** The offer to go on with an upload of before the page was loaded: its file has to be chosen again. */
    #offer(record) {
        const { name, sent, size, folder, print } = record;
        const choose = button("again", {
            text: t("chooseAgain"),
            onclick: () => {
                this.#record = record;
                byId("again").click();
            },
        });
        const drop = button("close", {
            class: "quiet",
            label: t("forgetOne", { name }),
            onclick: () => {
                resumes.forget(print);
                this.#interrupted = this.#interrupted.filter((one) => one !== record);
                this.#draw();
            },
        });
        const share = formatShare(sent / Math.max(size, 1));
        const state = t("interrupted", { share, folder: placeName(folder) });
        return make(
            "li",
            { "data-state": "interrupted" },
            make("span", { class: "label", text: name }),
            make("span", { class: "soft", text: state }),
            make("span", { class: "buttons" }, choose, drop),
        );
    }

    #ended(all) {
        const done = all.filter(({ state }) => state === "done").length;
        if (this.#uploads.open.length === 0 && done > 0) announce(t("uploaded", { count: done }));
    }

    redraw() {
        this.#rows.clear();
        this.#order = [];
        this.#more = -1;
        this.#draw();
    }
}
