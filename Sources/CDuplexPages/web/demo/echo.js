// SPDX-License-Identifier: Apache-2.0
// The echo, and the time that it takes.

import { Connection } from "./connection.js";
import { byId, make } from "./dom.js";
import { formatDuration, formatHex, formatSize, formatTime } from "./format.js";
import { Log } from "./log.js";
import { t } from "./texts.js";

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
        if (this.#samples.length === 0) return t("noTrips");
        const [low, high] = [Math.min(...this.#samples), Math.max(...this.#samples)].map(formatDuration);
        return t("latestTrips", { count: this.#samples.length, low, high });
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
    if (sizeOf(message) === 0) return make("span", { class: "body empty", text: t("emptyMessage") });
    if (typeof message !== "string")
        return make("code", { class: "body bytes", text: formatHex(new Uint8Array(message), 256) });
    const limit = 2000;
    return make("span", { class: "body", text: message.length > limit ? `${message.slice(0, limit)} …` : message });
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
        if (!this.#connection.isOpen) this.#log.note(t("notSent"));
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
        if (!isEcho) return this.#show("received", message, [t("noEcho")]);
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
        const quantile = (share) => formatDuration(RoundTrips.quantile(this.#measured, share));
        const [best, median, worst] = [0, 0.5, 1].map(quantile);
        this.#log.note(t("measured", { count: EchoPanel.burst, best, median, worst }));
        this.#measured = null;
    }

    #time(duration) {
        this.#trips.add(duration);
        byId("echo-rtt").textContent = formatDuration(duration);
        byId("echo-median").textContent = formatDuration(this.#trips.median);
    }

    #show(direction, message, notes) {
        const kind = typeof message === "string" ? [] : [t("binary")];
        const meta = [...notes, ...kind, formatSize(sizeOf(message)), formatTime(new Date())];
        this.#log.add(direction, describe(message), make("span", { class: "meta", text: meta.join(" · ") }));
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
