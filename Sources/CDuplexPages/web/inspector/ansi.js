// SPDX-License-Identifier: Apache-2.0
// Text with the colours and styles of terminals (ECMA-48 SGR). All other sequences are left out; one that isn't
// whole stays, as text. A style holds for one line, and hides nothing: colours are mixed with those of the page.

import { visible } from "./foreign.js";

const sequences = new RegExp(
    [
        "\\u001b\\[([0-?]*)[ -/]*([@-~])", // control sequences
        "\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)", // commands, such as titles and links
        "\\u001b[PX^_][^\\u001b]*\\u001b\\\\", // strings for devices
        "\\u001b[ -/]*[0-OQ-WYZ\\\\`-~]", // short ones
    ].join("|"),
    "g",
);
const steps = [0, 95, 135, 175, 215, 255];
const flags = { 1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "inverse", 9: "strike" };
const ends = { 22: ["bold", "faint"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 29: ["strike"] };

/** A colour of the 256: a name for the first sixteen, and a number of CSS for the others. */
function indexed(number) {
    if (!(number >= 0 && number <= 255)) return null;
    if (number < 16) return `ansi-${number}`;
    if (number >= 232) return triple(Array(3).fill(8 + 10 * (number - 232)));
    const cube = number - 16;
    return triple([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((part) => steps[part]));
}

function triple(parts) {
    const values = parts.map(Number);
    return values.length === 3 && values.every((value) => value >= 0 && value <= 255)
        ? `rgb(${values.join(" ")})`
        : null;
}

/**
 * The colour behind 38 or 48, and how many numbers it took.
 *
 * @returns {[string | null, number]}
 */
function extended(values, hasPlaces) {
    if (Number(values[0]) === 5) return [indexed(Number(values[1])), 2];
    if (Number(values[0]) !== 2) return [null, 1];
    // With colons there may be the number of a colour space in front.
    const from = hasPlaces && values.length > 4 ? 2 : 1;
    return [triple(values.slice(from, from + 3)), from + 3];
}

/** The style behind one more sequence; `null` for none. */
function changed(before, text) {
    let style = { ...before };
    const codes = text.split(";");
    for (let index = 0; index < codes.length; index += 1) {
        const parts = codes[index].split(":");
        const code = Number(parts[0]);
        if (code === 0) style = {};
        else if (flags[code]) style[flags[code]] = true;
        else if (ends[code]) for (const name of ends[code]) delete style[name];
        else if (code >= 30 && code <= 37) style.ink = `ansi-${code - 30}`;
        else if (code >= 90 && code <= 97) style.ink = `ansi-${code - 82}`;
        else if (code >= 40 && code <= 47) style.ground = `ansi-${code - 40}`;
        else if (code >= 100 && code <= 107) style.ground = `ansi-${code - 92}`;
        else if (code === 39) delete style.ink;
        else if (code === 49) delete style.ground;
        else if (code === 38 || code === 48) {
            const hasPlaces = parts.length > 1;
            const [colour, used] = extended(hasPlaces ? parts.slice(1) : codes.slice(index + 1), hasPlaces);
            if (!hasPlaces) index += used;
            if (colour) style[code === 38 ? "ink" : "ground"] = colour;
        }
    }
    return Object.keys(style).length ? style : null;
}

/** The text without its sequences, and the runs of one style: `{ plain, runs: [{ start, end, style }] }`. */
export function parse(text) {
    if (!text.includes("\u001b")) return { plain: text, runs: [{ start: 0, end: text.length, style: null }] };
    const runs = [];
    let plain = "";
    let style = null;
    let last = 0;
    const add = (part) => {
        if (part === "") return;
        runs.push({ start: plain.length, end: plain.length + part.length, style });
        plain += part;
    };
    for (const found of text.matchAll(sequences)) {
        add(text.slice(last, found.index));
        last = found.index + found[0].length;
        if (found[2] === "m" && /^[\d;:]*$/.test(found[1])) style = changed(style, found[1]);
    }
    add(text.slice(last));
    return { plain, runs };
}

function paint(node, name, value) {
    if (!value) return;
    // The page's own sixteen can be read; others are mixed with what is around them, so that no text hides itself.
    const isOwn = value.startsWith("ansi-");
    const colour = isOwn ? `var(--${value})` : value;
    if (name === "ink") node.style.color = isOwn ? colour : `color-mix(in srgb, ${colour} 50%, var(--ink))`;
    else node.style.backgroundColor = `color-mix(in srgb, ${colour} 25%, var(--surface))`;
}

function piece(text, style, isFound) {
    const shown = visible(text);
    if (!style && !isFound) return document.createTextNode(shown);
    const node = document.createElement(isFound ? "mark" : "span");
    node.textContent = shown;
    if (!style) return node;
    const names = Object.values(flags).filter((name) => style[name] && name !== "inverse");
    if (names.length) node.className = names.map((name) => `ansi-${name}`).join(" ");
    const { ink, ground } = style;
    paint(node, "ink", style.inverse ? ground : ink);
    if (!isFound) paint(node, "ground", style.inverse ? (ink ?? "var(--ink)") : ground);
    return node;
}

/** Nodes for a text that was parsed, with what `search` finds marked: a global regular expression, or null. */
export function nodes({ plain, runs }, search) {
    const found = search ? [...plain.matchAll(search)].slice(0, 200).filter((one) => one[0] !== "") : [];
    const result = [];
    let next = 0;
    for (const { start, end, style } of runs) {
        let at = start;
        while (at < end) {
            while (next < found.length && found[next].index + found[next][0].length <= at) next += 1;
            const match = found[next];
            const begin = match ? Math.max(at, match.index) : end;
            if (begin > at) result.push(piece(plain.slice(at, Math.min(begin, end)), style, false));
            if (begin >= end) break;
            const stop = Math.min(end, match.index + match[0].length);
            result.push(piece(plain.slice(begin, stop), style, true));
            at = stop;
        }
    }
    return result;
}
