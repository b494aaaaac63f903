// SPDX-License-Identifier: Apache-2.0
import { byId } from "./dom.js";
import { formatDuration } from "./format.js";

// RFC 6455, section 7.4.1, in plain words.
const closeNames = new Map([
    [1000, "normal closure"],
    [1001, "going away"],
    [1002, "protocol error"],
    [1003, "unsupported data"],
    [1005, "no code given"],
    [1006, "connection lost"],
    [1007, "invalid text"],
    [1008, "policy violation"],
    [1009, "message too big"],
    [1010, "extension missing"],
    [1011, "server error"],
    [1012, "service restart"],
    [1013, "try again later"],
    [1015, "TLS failed"],
]);

function describeClose(event) {
    const name = closeNames.get(event.code);
    const code = name ? `${event.code} ${name}` : String(event.code);
    return ["Closed", code, event.reason].filter((part) => part !== "").join(" · ");
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
        this.#show("connecting", "Connecting", "Cancel");
    }

    send(data) {
        this.#socket.send(data);
    }

    #switch() {
        if (this.#socket === null) {
            this.open();
        } else if (this.#socket.readyState !== WebSocket.CLOSING) {
            this.#show("closing", "Closing", "Closing");
            this.#socket.close(1000, "closed by the user");
        }
    }

    #opened() {
        const duration = formatDuration(performance.now() - this.#startedAt);
        this.#show("open", `Open after ${duration}`, "Disconnect");
    }

    #closed(event) {
        this.#socket = null;
        this.#show("closed", describeClose(event), "Reconnect");
        this.#handlers.closed();
    }

    #show(state, text, action) {
        this.#state.dataset.state = state;
        this.#state.textContent = text;
        this.#toggle.textContent = action;
        this.#toggle.dataset.action = action.toLowerCase();
        // A disabled button would lose the keyboard's focus.
        this.#toggle.setAttribute("aria-disabled", String(state === "closing"));
    }
}
