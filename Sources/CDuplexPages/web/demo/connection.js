// SPDX-License-Identifier: Apache-2.0
import { byId } from "./dom.js";
import { formatDuration } from "./format.js";
import { t } from "./texts.js";

// RFC 6455, section 7.4.1, in plain words.
const closeNames = new Map([
    [1000, t("close1000")],
    [1001, t("close1001")],
    [1002, t("close1002")],
    [1003, t("close1003")],
    [1005, t("close1005")],
    [1006, t("close1006")],
    [1007, t("close1007")],
    [1008, t("close1008")],
    [1009, t("close1009")],
    [1010, t("close1010")],
    [1011, t("close1011")],
    [1012, t("close1012")],
    [1013, t("close1013")],
    [1015, t("close1015")],
]);

function describeClose(event) {
    const name = closeNames.get(event.code);
    const code = name ? `${event.code} ${name}` : String(event.code);
    return [t("closed"), code, event.reason].filter((part) => part !== "").join(" · ");
}

// One WebSocket at a time, with the state and the button that show it. It opens again only when asked to.
export class Connection {
    #url;
    #socket = null;
    #startedAt = 0;
    #state;
    #toggle;
    #handlers;

    constructor(name, path, handlers) {
        this.#url = new URL(path, location.href);
        this.#url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
        this.#state = byId(`${name}-state`);
        this.#toggle = byId(`${name}-toggle`);
        this.#handlers = handlers;
        byId(`${name}-url`).textContent = this.#url.href;
        this.#toggle.addEventListener("click", () => this.#switch());
    }

    get url() {
        return this.#url.href;
    }

    get isOpen() {
        return this.#socket !== null && this.#socket.readyState === WebSocket.OPEN;
    }

    open() {
        const socket = new WebSocket(this.#url);
        socket.binaryType = "arraybuffer";
        socket.addEventListener("open", () => this.#opened());
        socket.addEventListener("message", (event) => this.#handlers.message(event.data));
        socket.addEventListener("close", (event) => this.#closed(event));
        this.#socket = socket;
        this.#startedAt = performance.now();
        this.#show("connecting", t("connecting"), "cancel");
    }

    send(data) {
        this.#socket.send(data);
    }

    #switch() {
        if (this.#socket === null) {
            this.open();
        } else if (this.#socket.readyState !== WebSocket.CLOSING) {
            this.#show("closing", t("closing"), "closing");
            this.#socket.close(1000, t("closedByUser"));
        }
    }

    #opened() {
        const time = formatDuration(performance.now() - this.#startedAt);
        this.#show("open", t("openAfter", { time }), "disconnect");
    }

    #closed(event) {
        this.#socket = null;
        this.#show("closed", describeClose(event), "reconnect");
        this.#handlers.closed();
    }

    /** @param {"cancel" | "closing" | "disconnect" | "reconnect"} action */
    #show(state, text, action) {
        this.#state.dataset.state = state;
        this.#state.textContent = text;
        this.#toggle.textContent = t(action);
        this.#toggle.dataset.action = action;
        // A disabled button would lose the keyboard's focus.
        this.#toggle.setAttribute("aria-disabled", String(state === "closing"));
    }
}
