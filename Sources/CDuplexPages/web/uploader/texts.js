// SPDX-License-Identifier: Apache-2.0
// The words of the page in the viewer's language. Another language is one more table like `texts-en.js`.

import { keep, recall } from "./dom.js";
import { english } from "./texts-en.js";
import { chinese } from "./texts-zh.js";

/** The languages that there are: tag, name in itself, and table. */
export const languages = [
    { tag: "en", name: "English", table: english },
    { tag: "zh-Hans", name: "中文", table: chinese },
];

const subtag = (tag) => tag.toLowerCase().split("-")[0];
const find = (tag) => languages.find((one) => subtag(one.tag) === subtag(tag));

let current = find(recall("language", "")) ?? navigator.languages.map(find).find(Boolean) ?? languages[0];

export const language = () => current.tag;

/** The viewer's own variant of the language, so that dates are those of the place: `en-GB` rather than `en`. */
export const locale = () => navigator.languages.find((tag) => subtag(tag) === subtag(current.tag)) ?? current.tag;

export function choose(tag) {
    current = find(tag) ?? current;
    keep("language", current.tag);
}

/**
 * A text with `{name}` replaced by the values. A text that depends on a count has forms: the language's rules
 * choose one for `count`.
 *
 * @param {keyof typeof english} key
 * @param {Record<string, any>} values
 */
export function t(key, values = {}) {
    const entry = current.table[key] ?? english[key] ?? key;
    const form = typeof entry === "string" ? entry : (entry[rule(values.count)] ?? entry.other);
    return form.replace(/\{(\w+)\}/g, (whole, name) => {
        const value = values[name];
        return typeof value === "number" ? value.toLocaleString(locale()) : (value ?? whole);
    });
}

const rule = (count) => new Intl.PluralRules(current.tag).select(count);

/**
 * Fills in the markup: `data-text` content, `data-label` names, `data-hint` placeholders, `data-say` both of
 * the first.
 */
export function translate(root = document) {
    /** @type {(name: string) => NodeListOf<any>} */
    const all = (name) => root.querySelectorAll(`[data-${name}]`);
    document.documentElement.lang = current.tag;
    for (const node of all("text")) node.textContent = t(node.dataset.text);
    for (const node of all("hint")) node.placeholder = t(node.dataset.hint);
    for (const node of all("label")) {
        node.setAttribute("aria-label", t(node.dataset.label));
        if (node.matches("button")) node.title = t(node.dataset.label);
    }
    for (const node of all("say")) {
        const words = node.querySelector("span") ?? node.appendChild(document.createElement("span"));
        words.textContent = t(node.dataset.say);
        node.title = t(node.dataset.say);
    }
}
