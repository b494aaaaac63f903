// SPDX-License-Identifier: Apache-2.0
// The row of one upload in the panel.

import { make } from "./dom.js";
import { formatShare, formatSize } from "./format.js";
import { button, changeIcon } from "./icons.js";
import { t } from "./texts.js";

export class UploadRow {
    #upload;
    #state = make("span", { class: "soft" });
    #bar;
    #pause;
    #cancel;

    constructor(upload, forget) {
        this.#upload = upload;
        const { name } = upload;
        this.#bar = make("progress", { max: 1, value: 0, "aria-label": name });
        this.#pause = button("pause", { class: "quiet", onclick: () => this.#toggle() });
        this.#cancel = button("close", {
            class: "quiet",
            label: t("cancelOne", { name }),
            onclick: () => (upload.isOver ? forget(upload) : upload.cancel()),
        });
        this.node = make(
            "li",
            {},
            make("span", { class: "label", text: name, title: name }),
            this.#state,
            this.#bar,
            make("span", { class: "buttons" }, this.#pause, this.#cancel),
        );
        this.update();
    }

    #toggle() {
        if (this.#upload.isRunning || this.#upload.state === "waiting") this.#upload.pause();
        else this.#upload.again();
    }

    update() {
        const { state, sent, size, name, error } = this.#upload;
        const isStopped = ["paused", "failed", "skipped"].includes(state);
        this.node.dataset.state = state;
        this.#bar.value = size === 0 ? Number(state === "done") : sent / size;
        const progress = `${formatShare(sent / Math.max(size, 1))} · ${formatSize(size)}`;
        const words = { running: progress, failed: error };
        this.#state.textContent = words[state] ?? t(/** @type {any} */ (`upload_${state}`));
        this.#pause.hidden = state === "done" || state === "asking";
        const label = t(state === "paused" ? "resumeOne" : isStopped ? "againOne" : "pauseOne", { name });
        this.#pause.setAttribute("aria-label", label);
        this.#pause.title = label;
        changeIcon(this.#pause, state === "paused" ? "play" : isStopped ? "again" : "pause");
        const close = t(this.#upload.isOver ? "hideOne" : "cancelOne", { name });
        this.#cancel.setAttribute("aria-label", close);
        this.#cancel.title = close;
    }
}
