// SPDX-License-Identifier: Apache-2.0
// A payload for people: JSON folded, text, or bytes.

import { make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { bytes, count } from "./format.js";
import { t } from "./texts.js";

const depth = 64;

function raw(frame) {
    return Uint8Array.from(atob(frame.data ?? ""), (character) => character.charCodeAt(0));
}

function hex(array, end = array.length) {
    return Array.from(array.subarray(0, end), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/** One line of a frame. */
export function preview(frame) {
    if (frame.text !== undefined) return frame.text.slice(0, 400).replace(/\s+/g, " ");
    const array = raw(frame);
    if (frame.opcode === "close" && array.length >= 2) {
        return `${array[0] * 256 + array[1]} ${new TextDecoder().decode(array.subarray(2))}`;
    }
    return hex(array, 64) + (array.length > 64 ? " …" : "");
}

/** A value of JSON, its objects and arrays folded away beyond the second level. */
export function folded(value, name, level = 0) {
    const label = name === undefined ? "" : `${visible(name)}: `;
    if (value === null || typeof value !== "object") {
        return make(
            "div",
            { class: `json ${value === null ? "null" : typeof value}` },
            make("span", { class: "soft", text: label }),
            foreign("span", JSON.stringify(value)),
        );
    }
    const entries = Object.entries(value);
    const what = Array.isArray(value) ? `[${count(entries.length)}]` : `{${count(entries.length)}}`;
    const node = make("details", { class: "json", open: level < 2 }, make("summary", { text: `${label}${what}` }));
    const fill = () => {
        if (node.dataset.filled) return;
        node.dataset.filled = "true";
        const shown = level >= depth ? [] : entries.slice(0, 1000);
        node.append(...shown.map(([key, inner]) => folded(inner, key, level + 1)));
        if (shown.length < entries.length) node.append(make("p", { class: "soft", text: t("restNotShown") }));
    };
    if (level < 2) fill();
    else node.addEventListener("toggle", fill);
    return node;
}

/** Bytes in lines of sixteen, beside what of them is text. */
export function dump(array) {
    const lines = [];
    for (let start = 0; start < array.length; start += 16) {
        const part = array.subarray(start, start + 16);
        const text = Array.from(part, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join(
            "",
        );
        lines.push(`${start.toString(16).padStart(6, "0")}  ${hex(part).padEnd(47)}  ${text}`);
    }
    return make("pre", { class: "text hex", text: lines.join("\n") });
}

/** All of a frame's payload that is kept. */
export function payload(frame) {
    const parts = make("div", { class: "whole" });
    if (frame.cut) {
        parts.append(make("p", { class: "soft", text: t("payloadCut", { size: bytes(frame.size) }) }));
    }
    if (frame.text === undefined) {
        if (frame.opcode === "close") parts.append(foreign("p", preview(frame)));
        if (frame.cbor !== undefined) parts.append(foreign("pre", frame.cbor, { class: "text" }));
        parts.append(dump(raw(frame)));
        return parts;
    }
    try {
        const value = JSON.parse(frame.text);
        if (value !== null && typeof value === "object") parts.append(folded(value));
        else throw new Error("no structure");
    } catch {
        parts.append(foreign("pre", frame.text, { class: "text" }));
    }
    return parts;
}

function bodyParts(body, absence) {
    if (body.size === 0) return [];
    const isKept = (body.text ?? body.data ?? "") !== "";
    return [
        make("h4", { text: t("bodySize", { size: bytes(body.size) }) }),
        isKept ? payload(body) : make("p", { class: "soft", text: absence }),
    ];
}

/** A request or a response: its fields and its body. `absence` says why a body isn't there. */
export function messageParts(title, fields, body, absence) {
    const list = make("dl", { class: "facts" });
    for (const [name, value] of fields) list.append(foreign("dt", name), foreign("dd", value, { class: "mono" }));
    return [make("h4", { text: title }), list, ...bodyParts(body, absence)];
}
