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

// The latest round trips, drawn as one bar each with the newest to the right.
class RoundTrips {
    static limit = 40;
    static height = 20;
    #samples = [];
    #chart;

    constructor(chart) {
        this.#chart = chart;
    }

    add(milliseconds) {
        this.#samples.push(milliseconds);
        if (this.#samples.length > RoundTrips.limit) this.#samples.shift();
        this.#draw();
    }

    clear() {
        this.#samples = [];
        this.#draw();
    }

    get median() {
        return RoundTrips.quantile(this.#samples, 0.5);
    }

    static quantile(samples, share) {
        const sorted = samples.toSorted((a, b) => a - b);
        const place = (sorted.length - 1) * share;
        const low = sorted[Math.floor(place)];
        return low + (sorted[Math.ceil(place)] - low) * (place % 1);
    }

    #draw() {
        // Three times the median fills the chart, or one late message would flatten all the others.
        const top = Math.min(Math.max(...this.#samples), this.median * 3) || 1;
        const first = RoundTrips.limit - this.#samples.length;
        this.#chart.replaceChildren(...this.#samples.map((sample, index) => bar(first + index, sample / top)));
        this.#chart.setAttribute("aria-label", this.#description);
    }

    get #description() {
        if (this.#samples.length === 0) return "No round trips yet";
        const [low, high] = [Math.min(...this.#samples), Math.max(...this.#samples)].map(formatDuration);
        const count = formatCount(this.#samples.length, "round trip", "round trips");
        return `Latest ${count}, between ${low} and ${high}`;
    }
}

function bar(slot, share) {
    const height = Math.max(0.75, Math.min(1, share) * RoundTrips.height);
    const rectangle = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const place = { x: slot + 0.15, y: RoundTrips.height - height, width: 0.7, height };
    for (const [name, value] of Object.entries(place)) rectangle.setAttribute(name, value);
    rectangle.setAttribute("class", "bar");
    return rectangle;
}

// Counts of messages and of their bytes in one direction.
class Tally {
    #element;
    #messages = 0;
    #bytes = 0;

    constructor(element) {
        this.#element = element;
    }

    add(bytes) {
        this.#messages += 1;
        this.#bytes += bytes;
        this.#element.textContent = `${this.#messages} · ${formatSize(this.#bytes)}`;
    }

    clear() {
        this.#messages = 0;
        this.#bytes = 0;
        this.#element.textContent = "0";
    }
}

const encoder = new TextEncoder();

// A message is a string or an ArrayBuffer, the two kinds that a WebSocket has.
function sizeOf(message) {
    return typeof message === "string" ? encoder.encode(message).length : message.byteLength;
}

function isSame(one, other) {
    if (typeof one === "string" || typeof other === "string") return one === other;
    const [left, right] = [new Uint8Array(one), new Uint8Array(other)];
    return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

function describe(message) {
    if (sizeOf(message) === 0) return make("span", "body empty", "empty message");
    if (typeof message !== "string") return make("code", "body bytes", formatHex(new Uint8Array(message), 256));
    const limit = 2000;
    return make("span", "body", message.length > limit ? `${message.slice(0, limit)} …` : message);
}

class EchoPanel {
    static burst = 20;
    #connection;
    #log = new Log(byId("echo-log"));
    #input = byId("echo-input");
    #trips = new RoundTrips(byId("echo-sparkline"));
    #sent = new Tally(byId("echo-sent"));
    #received = new Tally(byId("echo-received"));
    #waiting = [];
    #measured = null;

    constructor() {
        this.#connection = new Connection("echo", "/echo", {
            message: (message) => this.#receive(message),
            closed: () => this.#forget(),
        });
        byId("echo-form").addEventListener("submit", (event) => {
            event.preventDefault();
            this.#sendInput((text) => text);
        });
        byId("echo-send-binary").addEventListener("click", () => {
            this.#sendInput((text) => encoder.encode(text).buffer);
        });
        byId("echo-measure").addEventListener("click", () => this.#measure());
        byId("echo-clear").addEventListener("click", () => this.#clear());
        byId("ping-command").textContent = `duplex ping ${this.#connection.url}`;
        this.#connection.open();
    }

    #sendInput(encode) {
        if (!this.#isReady()) return;
        const message = encode(this.#input.value);
        this.#show("sent", message, []);
        this.#send(message, false);
        this.#input.select();
    }

    // One after the other, so that no message waits for the one before it.
    #measure() {
        if (this.#measured !== null || !this.#isReady()) return;
        this.#measured = [];
        this.#send("round trip 1", true);
    }

    #isReady() {
        if (!this.#connection.isOpen) this.#log.note("Not sent: the connection is not open.");
        return this.#connection.isOpen;
    }

    #send(message, isMeasured) {
        this.#sent.add(sizeOf(message));
        this.#waiting.push({ message, isMeasured, sentAt: performance.now() });
        this.#connection.send(message);
    }

    // Messages keep their order, so an echo belongs to the message that has waited longest.
    #receive(message) {
        const receivedAt = performance.now();
        this.#received.add(sizeOf(message));
        const isEcho = this.#waiting.length > 0 && isSame(this.#waiting[0].message, message);
        if (!isEcho) return this.#show("received", message, ["not an echo"]);
        const { isMeasured, sentAt } = this.#waiting.shift();
        const duration = receivedAt - sentAt;
        this.#time(duration);
        if (isMeasured) return this.#goOn(duration);
        this.#show("received", message, [formatDuration(duration)]);
    }

    #goOn(duration) {
        if (this.#measured === null) return;
        this.#measured.push(duration);
        if (this.#measured.length < EchoPanel.burst) {
            return this.#send(`round trip ${this.#measured.length + 1}`, true);
        }
        const [low, middle, high] = [0, 0.5, 1].map((share) => RoundTrips.quantile(this.#measured, share));
        this.#log.note(`${EchoPanel.burst} round trips: best ${formatDuration(low)}, `
            + `median ${formatDuration(middle)}, worst ${formatDuration(high)}`);
        this.#measured = null;
    }

    #time(duration) {
        this.#trips.add(duration);
        byId("echo-rtt").textContent = formatDuration(duration);
        byId("echo-median").textContent = formatDuration(this.#trips.median);
    }

    #show(direction, message, notes) {
        const kind = typeof message === "string" ? [] : ["binary"];
        const meta = [...notes, ...kind, formatSize(sizeOf(message)), formatTime(new Date())];
        this.#log.add(direction, describe(message), make("span", "meta", meta.join(" · ")));
    }

    // What was on its way when the connection closed never comes back.
    #forget() {
        this.#waiting = [];
        this.#measured = null;
    }

    #clear() {
        for (const part of [this.#log, this.#trips, this.#sent, this.#received]) part.clear();
        for (const id of ["echo-rtt", "echo-median"]) byId(id).textContent = "–";
    }
}

new EchoPanel();

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
        this.#close("Stopped", "Connect");
    }

    // Each page has few connections for requests, so a feed is read only when asked for.
    #open() {
        const source = new EventSource(this.#path);
        source.addEventListener("open", () => this.#tell("open", "Open", "Stop"));
        source.addEventListener("error", () => this.#failed());
        source.addEventListener(this.#type, (event) => this.#receive(event));
        this.#source = source;
        this.#tell("connecting", "Connecting", "Stop");
    }

    #receive(event) {
        this.#lastID = event.lastEventId;
        this.#log.add("received", ...this.#show(JSON.parse(event.data), event.lastEventId));
    }

    #failed() {
        if (this.#source.readyState === EventSource.CLOSED) return this.#close("Refused", "Connect");
        this.#returns += 1;
        this.#returned(this.#returns);
        this.#tell("connecting", "Coming back", "Stop");
        this.#log.note(`The stream has ended; coming back with Last-Event-ID ${this.#lastID || "(none)"}.`);
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
        make("span", "body", `Event ${number}`),
        make("span", "meta", after === null ? `id ${id}` : `id ${id} · came back behind ${after}`),
    ],
    (returns) => { byId("events-returns").textContent = `Came back ${formatCount(returns, "time", "times")}`; },
);

new Feed(
    { state: byId("requests-state"), toggle: byId("requests-toggle"), log: byId("requests-log") },
    "/demo/log",
    "request",
    ({ method, path, status, microseconds, bytes }) => [
        make("span", "body", `${method} ${path}`),
        make("span", "meta", `${status} · ${formatSize(bytes)} · ${formatDuration(microseconds / 1000)}`),
    ],
);

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
        request.addEventListener("error", () => this.#end("closed", "Failed: the connection was lost."));
        request.addEventListener("abort", () => this.#end("closed", "Stopped."));
        request.open("POST", "/demo/upload");
        request.setRequestHeader("Content-Type", "application/octet-stream");
        this.#request = request;
        this.#startedAt = performance.now();
        this.#progress.value = 0;
        this.#tell("connecting", "Sending");
        request.send(file);
    }

    #show({ loaded, total }) {
        this.#progress.value = total === 0 ? 1 : loaded / total;
        this.#tell("connecting", `Sent ${formatSize(loaded)} of ${formatSize(total)}`);
    }

    #loaded(request, file) {
        const duration = performance.now() - this.#startedAt;
        const count = Number(request.responseText);
        if (request.status !== 200 || count !== file.size) {
            return this.#end("closed", `Failed: ${request.status}, ${request.responseText.trim()}`);
        }
        this.#progress.value = 1;
        const rate = formatSize(Math.round(count / Math.max(duration, 0.1) * 1000));
        const time = formatDuration(duration);
        this.#end("open", `The server has counted ${formatSize(count)} in ${time}, ${rate}/s`);
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

class FormPanel {
    #log = new Log(byId("form-log"));

    constructor() {
        byId("form-form").addEventListener("submit", (event) => {
            event.preventDefault();
            const isInParts = event.submitter?.formEnctype === "multipart/form-data";
            this.#send(new FormData(event.target), isInParts);
        });
    }

    async #send(data, isInParts) {
        const body = isInParts ? data : new URLSearchParams([...data].map(([name, value]) => {
            return [name, typeof value === "string" ? value : value.name];
        }));
        try {
            const headers = { Accept: "application/json" };
            const response = await fetch("/demo/form", { method: "POST", body, headers });
            if (!response.ok) return this.#log.note(`Refused: ${response.status}`);
            this.#show(await response.json());
        } catch {
            this.#log.note("Failed: the connection was lost.");
        }
    }

    #show({ kind, fields }) {
        this.#log.note(`${formatCount(fields.length, "field", "fields")} as ${kind}`);
        for (const { name, value, filename, type, bytes } of fields) {
            const text = filename === undefined ? value : `the file “${filename}”, ${type}`;
            this.#log.add(
                "received",
                make("code", "name", name),
                make("span", "body", text),
                make("span", "meta", formatSize(bytes)),
            );
        }
    }
}

new FormPanel();

// What the room sent, or null when it is not of the room's form.
function parseRoomMessage(data) {
    if (typeof data !== "string") return null;
    try {
        const message = JSON.parse(data);
        return Number.isInteger(message?.people) ? message : null;
    } catch {
        return null;
    }
}

function formatMinute(text) {
    const date = new Date(text);
    if (Number.isNaN(date.getTime())) return "";
    return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

class ChatPanel {
    #connection;
    #log = new Log(byId("chat-log"));
    #name = byId("chat-name");
    #input = byId("chat-input");
    #people = null;
    #unseen = [];

    constructor() {
        this.#connection = new Connection("chat", "/chat", {
            message: (data) => this.#receive(parseRoomMessage(data)),
            closed: () => this.#leave(),
        });
        if (this.#name.value === "") this.#name.value = `Guest ${100 + Math.floor(Math.random() * 900)}`;
        byId("chat-form").addEventListener("submit", (event) => {
            event.preventDefault();
            this.#send(this.#name.value.trim(), this.#input.value.trim());
        });
        byId("chat-clear").addEventListener("click", () => this.#log.clear());
        this.#connection.open();
    }

    #send(name, text) {
        if (!this.#connection.isOpen) return this.#log.note("Not sent: the connection is not open.");
        this.#unseen.push({ name, text });
        this.#connection.send(JSON.stringify({ name, text }));
        this.#input.value = "";
        this.#input.focus();
    }

    #receive(message) {
        if (message === null) return this.#log.note("The room sent something that is no message of its form.");
        if (typeof message.text === "string") this.#show(message);
        else this.#greet(message.people);
        this.#count(message.people);
    }

    #show({ id, name, text, at }) {
        const isMine = this.#isMine(name, text);
        const row = this.#log.add(
            "received",
            make("span", "name", isMine ? `${name} (you)` : String(name)),
            make("span", "meta", formatMinute(at)),
            make("span", "body", text),
        );
        row.dataset.id = id;
        if (isMine) row.dataset.mine = "";
    }

    // The room keeps the order of one sender's messages, so only the oldest that is still out can be this one.
    #isMine(name, text) {
        const oldest = this.#unseen[0];
        if (!oldest || oldest.name !== name || oldest.text !== text) return false;
        this.#unseen.shift();
        return true;
    }

    #greet(people) {
        if (this.#people === null || people === this.#people) return;
        this.#log.note(people > this.#people ? "Someone came in." : "Someone left.");
    }

    #count(people) {
        this.#people = people;
        byId("chat-people").textContent = `${formatCount(people, "person", "people")} here`;
    }

    #leave() {
        this.#people = null;
        this.#unseen = [];
        byId("chat-people").textContent = "Not in the room";
    }
}

new ChatPanel();
