// SPDX-License-Identifier: Apache-2.0

// The server's events: which folders others have changed, and whether the server is there at all.

import { address } from "./server.js";

const patience = 1500;
const longestPause = 10_000;

export class Changes {
    #hears;
    #source = null;
    #timer = null;
    #wasLost = false;

    /** `hears` has `changed(path)`, `lost()` and `back()`; after the last, anything may have changed. */
    constructor(hears) {
        this.#hears = hears;
        // A page that nobody sees keeps no connection: browsers allow six to a server, over all its tabs.
        document.addEventListener("visibilitychange", () => (document.hidden ? this.#close() : this.#open()));
        addEventListener("offline", () => this.#hears.lost());
        addEventListener("online", () => this.#open());
        this.#open();
    }

    #close() {
        clearTimeout(this.#timer);
        this.#source?.close();
        this.#source = null;
    }

    /** What has changed until the stream is open nobody tells, the first time either. */
    #open() {
        this.#close();
        this.#wasLost = true;
        this.#source = new EventSource(address("changes"));
        this.#source.addEventListener("open", () => this.#opened());
        this.#source.addEventListener("error", () => this.#failed());
        this.#source.addEventListener("change", ({ data }) => this.#hears.changed(JSON.parse(data).path));
    }

    #opened() {
        clearTimeout(this.#timer);
        if (this.#wasLost) this.#hears.back();
        this.#wasLost = false;
    }

    /**
     * A short cut is nobody's matter. The browser connects again itself unless the answer was no stream of
     * events.
     */
    #failed() {
        this.#wasLost = true;
        const isShut = this.#source.readyState === EventSource.CLOSED;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
            this.#hears.lost();
            if (isShut) this.#timer = setTimeout(() => this.#open(), longestPause);
        }, patience);
    }
}
