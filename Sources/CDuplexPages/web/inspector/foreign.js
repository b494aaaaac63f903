// SPDX-License-Identifier: Apache-2.0
// Text of others: control characters, and such that turn text about, are shown as signs that can be seen.

import { make } from "./dom.js";

const hidden =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

function sign(character) {
    const code = character.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** The text with what can't be seen written as signs; line ends and tabs stay. */
export function visible(text) {
    return String(text).replace(hidden, sign);
}

/** An element with text of others. */
export function foreign(tag, text, attributes = {}) {
    return make(tag, { dir: "auto", ...attributes, text: visible(text) });
}
