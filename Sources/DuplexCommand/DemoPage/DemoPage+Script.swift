// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension DemoPage {
    /// The script, a module: strict, run once the markup is there, and without a global.
    ///
    /// What comes from the network becomes text nodes, never markup.
    static let script = formatScript + logScript + connectionScript + echoScript + feedScript + formScript + chatScript

    private static let formatScript = #"""
        const byId = (id) => document.getElementById(id);

        function make(tag, className, text) {
            const element = document.createElement(tag);
            element.className = className;
            element.textContent = text;
            return element;
        }

        // Numbers and their units stay on one line: \u00a0 is a space that does not break.
        function formatDuration(milliseconds) {
            const digits = milliseconds < 10 ? 2 : milliseconds < 100 ? 1 : 0;
            return `${milliseconds.toFixed(digits)}\u00a0ms`;
        }

        function formatSize(bytes) {
            if (bytes < 1024) return `${bytes}\u00a0B`;
            if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}\u00a0KiB`;
            return `${(bytes / 1024 / 1024).toFixed(1)}\u00a0MiB`;
        }

        function formatTime(date) {
            const pad = (number, width) => String(number).padStart(width, "0");
            const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => pad(part, 2)).join(":");
            return `${clock}.${pad(date.getMilliseconds(), 3)}`;
        }

        function formatHex(bytes, limit) {
            const pairs = Array.from(bytes.subarray(0, limit), (byte) => byte.toString(16).padStart(2, "0"));
            return pairs.join(" ") + (bytes.length > limit ? " …" : "");
        }

        function formatCount(count, one, many) {
            return count === 1 ? `1 ${one}` : `${count} ${many}`;
        }


        """#

    private static let logScript = #"""
        // A list of messages with a bounded number of rows, which follows its end unless the reader has scrolled away.
        class Log {
            static limit = 200;
            static spoken = { sent: "Sent: ", received: "Received: ", note: "" };
            #element;

            constructor(element) {
                this.#element = element;
            }

            add(direction, ...parts) {
                const follows = this.#isAtEnd;
                const row = make("div", "row", "");
                row.dataset.direction = direction;
                row.append(make("span", "spoken", Log.spoken[direction]), ...parts);
                this.#element.append(row);
                while (this.#element.childElementCount > Log.limit) this.#element.firstElementChild.remove();
                if (follows) this.#element.scrollTop = this.#element.scrollHeight;
                return row;
            }

            note(text) {
                this.add("note", make("span", "body", text), make("span", "meta", formatTime(new Date())));
            }

            clear() {
                this.#element.replaceChildren();
            }

            get #isAtEnd() {
                const { scrollHeight, scrollTop, clientHeight } = this.#element;
                return scrollHeight - scrollTop - clientHeight < 32;
            }
        }


        """#

    private static let connectionScript = #"""
        // RFC 6455, section 7.4.1, in plain words.
        const closeNames = new Map([
            [1000, "normal closure"], [1001, "going away"], [1002, "protocol error"], [1003, "unsupported data"],
            [1005, "no code given"], [1006, "connection lost"], [1007, "invalid text"], [1008, "policy violation"],
            [1009, "message too big"], [1010, "extension missing"], [1011, "server error"], [1012, "service restart"],
            [1013, "try again later"], [1015, "TLS failed"],
        ]);

        function describeClose(event) {
            const name = closeNames.get(event.code);
            const code = name ? `${event.code} ${name}` : String(event.code);
            return ["Closed", code, event.reason].filter((part) => part !== "").join(" · ");
        }

        // One WebSocket at a time, with the state and the button that show it. It opens again only when asked to.
        class Connection {
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


        """#
}
