// SPDX-License-Identifier: Apache-2.0
// The words of the page in the viewer's language. Another language is one more table like `texts-en.js`.

import { dictionary } from "./dictionary.js";
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

export const { t, translate } = dictionary(english, { table: () => current.table, language, locale });
