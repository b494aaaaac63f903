// SPDX-License-Identifier: Apache-2.0
// The chat room.

import { Connection } from "./connection.js";
import { byId, make } from "./dom.js";
import { Log } from "./log.js";
import { t } from "./texts.js";

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
        if (this.#name.value === "") this.#name.value = t("guest", { number: 100 + Math.floor(Math.random() * 900) });
        byId("chat-form").addEventListener("submit", (event) => {
            event.preventDefault();
            this.#send(this.#name.value.trim(), this.#input.value.trim());
        });
        byId("chat-clear").addEventListener("click", () => this.#log.clear());
        this.#connection.open();
    }

    #send(name, text) {
        if (!this.#connection.isOpen) return this.#log.note(t("notSent"));
        this.#unseen.push({ name, text });
        this.#connection.send(JSON.stringify({ name, text }));
        this.#input.value = "";
        this.#input.focus();
    }

    #receive(message) {
        if (message === null) return this.#log.note(t("strangeMessage"));
        if (typeof message.text === "string") this.#show(message);
        else this.#greet(message.people);
        this.#count(message.people);
    }

    #show({ id, name, text, at }) {
        const isMine = this.#isMine(name, text);
        const row = this.#log.add(
            "received",
            make("span", { class: "name", text: isMine ? t("ofYours", { name }) : String(name) }),
            make("span", { class: "meta", text: formatMinute(at) }),
            make("span", { class: "body", text }),
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
        this.#log.note(people > this.#people ? t("cameIn") : t("left"));
    }

    #count(people) {
        this.#people = people;
        byId("chat-people").textContent = t("people", { count: `${people}` });
    }

    #leave() {
        this.#people = null;
        this.#unseen = [];
        byId("chat-people").textContent = t("notInRoom");
    }
}

new ChatPanel();
