// SPDX-License-Identifier: Apache-2.0
// The path of the folder shown, each part of it a link.

import { byId, make } from "./dom.js";
import { icon } from "./icons.js";
import { fragmentOf, nameOf, parentOf } from "./paths.js";
import { language, t } from "./texts.js";

let shown = "";

/**
 * Shows where we are; the last part is the place itself, which names the grid too.
 *
 * @param {{ kind: string, path: string, text?: string }} view
 */
export function showCrumbs({ kind, path, text }) {
    const print = JSON.stringify([language(), kind, path, text]);
    if (print === shown) return;
    shown = print;
    const paths = [];
    for (let one = path; one !== ""; one = parentOf(one)) paths.unshift(one);
    const parts = ["", ...paths].map((one) => ({ path: one, name: one === "" ? t("root") : nameOf(one) }));
    if (kind === "trash") parts.push({ path: null, name: t("trash") });
    if (kind === "search") parts.push({ path: null, name: t("results", { text }) });
    const last = parts.pop();
    const items = parts.map((part) => make("li", {}, link(part)));
    const here = make("span", { id: "place", "aria-current": "page", text: last.name });
    items.push(make("li", {}, ...(items.length === 0 ? [icon("home")] : []), here));
    byId("crumb-list").replaceChildren(...items);
    const title = byId("title").textContent;
    document.title = last.path === "" ? title : `${last.name} – ${title}`;
}

function link({ path, name }) {
    const inside = path === "" ? [icon("home")] : [];
    return make("a", { href: fragmentOf(path), "data-path": path }, ...inside, make("span", { text: name }));
}
