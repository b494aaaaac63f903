// SPDX-License-Identifier: Apache-2.0
// The upload.

import { byId } from "./dom.js";
import { formatDuration, formatSize } from "./format.js";
import { t } from "./texts.js";

// One upload at a time. Only XMLHttpRequest tells how much of a body has gone.
class UploadPanel {
    #request = null;
    #startedAt = 0;
    #progress = byId("upload-progress");
    #state = byId("upload-state");

    constructor() {
        byId("upload-form").addEventListener("submit", (event) => {
            event.preventDefault();
            const [file] = byId("upload-file").files;
            if (file && this.#request === null) this.#send(file);
        });
        byId("upload-stop").addEventListener("click", () => this.#request?.abort());
    }

    #send(file) {
        const request = new XMLHttpRequest();
        request.upload.addEventListener("progress", (event) => this.#show(event));
        request.addEventListener("load", () => this.#loaded(request, file));
        request.addEventListener("error", () => this.#end("closed", t("connectionLost")));
        request.addEventListener("abort", () => this.#end("closed", t("uploadStopped")));
        request.open("POST", "/demo/upload");
        request.setRequestHeader("Content-Type", "application/octet-stream");
        this.#request = request;
        this.#startedAt = performance.now();
        this.#progress.value = 0;
        this.#tell("connecting", t("sending"));
        request.send(file);
    }

    #show({ loaded, total }) {
        this.#progress.value = total === 0 ? 1 : loaded / total;
        this.#tell("connecting", t("sentOf", { sent: formatSize(loaded), total: formatSize(total) }));
    }

    #loaded(request, file) {
        const duration = performance.now() - this.#startedAt;
        const count = Number(request.responseText);
        if (request.status !== 200 || count !== file.size) {
            return this.#end(
                "closed",
                t("uploadFailed", { status: request.status, reason: request.responseText.trim() }),
            );
        }
        this.#progress.value = 1;
        const rate = formatSize(Math.round((count / Math.max(duration, 0.1)) * 1000));
        const time = formatDuration(duration);
        this.#end("open", t("counted", { size: formatSize(count), time, rate }));
    }

    #end(state, text) {
        this.#request = null;
        this.#tell(state, text);
    }

    #tell(state, text) {
        this.#state.dataset.state = state;
        this.#state.textContent = text;
    }
}

new UploadPanel();
