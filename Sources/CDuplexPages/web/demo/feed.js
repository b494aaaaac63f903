// SPDX-License-Identifier: Apache-2.0
// Server-sent events: the count, and the last requests.

import { byId, make } from "./dom.js";
import { formatDuration, formatSize } from "./format.js";
import { Log } from "./log.js";
import { t } from "./texts.js";

// One stream of events at a time. The browser opens it again by itself, until it is stopped or refused.
class Feed {
    #parts;
    #log;
    #path;
    #type;
    #show;
    #returned;
    #source = null;
    #returns = 0;
    #lastID = "";

    /** @param {(returns: number) => void} returned */
    constructor(parts, path, type, show, returned = () => {}) {
        this.#parts = parts;
        this.#log = new Log(parts.log);
        this.#path = path;
        this.#type = type;
        this.#show = show;
        this.#returned = returned;
        parts.toggle.addEventListener("click", () => this.#switch());
    }

    #switch() {
        if (this.#source === null) return this.#open();
        this.#close(t("stopped"), t("connect"));
    }

    // Each page has few connections for requests, so a feed is read only when asked for.
    #open() {
        const source = new EventSource(this.#path);
        source.addEventListener("open", () => this.#tell("open", t("open"), t("stop")));
        source.addEventListener("error", () => this.#failed());
        source.addEventListener(this.#type, (event) => this.#receive(event));
        this.#source = source;
        this.#tell("connecting", t("connecting"), t("stop"));
    }

    #receive(event) {
        this.#lastID = event.lastEventId;
        this.#log.add("received", ...this.#show(JSON.parse(event.data), event.lastEventId));
    }

    #failed() {
        if (this.#source.readyState === EventSource.CLOSED) return this.#close(t("refused"), t("connect"));
        this.#returns += 1;
        this.#returned(this.#returns);
        this.#tell("connecting", t("returning"), t("stop"));
        this.#log.note(t("streamEnded", { id: this.#lastID || t("noID") }));
    }

    #close(text, action) {
        this.#source.close();
        this.#source = null;
        this.#tell("closed", text, action);
    }

    #tell(state, text, action) {
        this.#parts.state.dataset.state = state;
        this.#parts.state.textContent = text;
        this.#parts.toggle.textContent = action;
    }
}

new Feed(
    { state: byId("events-state"), toggle: byId("events-toggle"), log: byId("events-log") },
    "/events",
    "tick",
    ({ number, after }, id) => [
        make("span", { class: "body", text: t("event", { number: `${number}` }) }),
        make("span", {
            class: "meta",
            text: after === null ? t("eventID", { id }) : t("eventBehind", { id, after: `${after}` }),
        }),
    ],
    (returns) => {
        byId("events-returns").textContent = t("returned", { count: `${returns}` });
    },
);

new Feed(
    { state: byId("requests-state"), toggle: byId("requests-toggle"), log: byId("requests-log") },
    "/demo/log",
    "request",
    ({ method, path, status, microseconds, bytes }) => [
        make("span", { class: "body", text: `${method} ${path}` }),
        make("span", {
            class: "meta",
            text: `${status} · ${formatSize(bytes)} · ${formatDuration(microseconds / 1000)}`,
        }),
    ],
);
