// SPDX-License-Identifier: Apache-2.0
// The dialog in which a folder is chosen.

import { api } from "./api.js";
import { askName, faultOf, show } from "./dialogs.js";
import { make } from "./dom.js";
import { button, icon } from "./icons.js";
import { isWithin, join, nameOf, parentOf } from "./paths.js";
import { locale, t } from "./texts.js";

class Picker {
    #place = make("p", { class: "wrapping place", role: "status" });
    #list = make("ul", { class: "picker" });
    #fault = make("p", { class: "fault", role: "alert" });
    #barred;
    #choose;
    path;

    /** `barred` are folders that can't be chosen: those that are moved, and what is in them. */
    constructor(path, barred, yes, end) {
        this.path = path;
        this.#barred = barred;
        const choose = () => end(this.path);
        this.#choose = make("button", { type: "button", class: "primary", text: yes, onclick: choose });
        const cancel = make("button", { type: "button", text: t("cancel"), onclick: () => end(null) });
        this.#list.setAttribute("aria-label", t("folders"));
        const make1 = button("newFolder", { text: t("newFolder"), class: "aside", onclick: () => end(this) });
        this.parts = [
            this.#place,
            this.#list,
            this.#fault,
            make("div", { class: "actions" }, make1, cancel, this.#choose),
        ];
        this.#open(path);
    }

    async #open(path) {
        try {
            const { entries } = await api.list(path);
            this.path = path;
            this.#fault.textContent = "";
            this.#show(entries.filter(({ kind }) => kind === "folder"));
        } catch (error) {
            this.#fault.textContent = error.message;
        }
    }

    #show(folders) {
        this.#place.textContent = this.path === "" ? t("root") : this.path.replaceAll("/", " / ");
        const hadFocus = this.#list.contains(document.activeElement);
        const { compare } = new Intl.Collator(locale(), { numeric: true });
        const names = folders.map(({ name }) => name).sort(compare);
        const rows = names
            .map((name) => [name, join(this.path, name)])
            .filter(([, path]) => !this.#barred.some((one) => isWithin(path, one)))
            .map(([name, path]) => this.#row("folder", name, path));
        if (this.path !== "") rows.unshift(this.#row("up", t("up"), parentOf(this.path)));
        if (rows.length === 0) rows.push(make("li", { class: "soft", text: t("noFolders") }));
        this.#list.replaceChildren(...rows);
        if (hadFocus) (this.#list.querySelector("button") ?? this.#choose).focus();
    }

    #row(drawing, name, path) {
        const open = () => this.#open(path);
        const text = make("span", { text: name });
        return make("li", {}, make("button", { type: "button", onclick: open }, icon(drawing), text));
    }
}

/** Asks for a folder, beginning at one: its path, or null. */
export async function pickFolder(title, { path, barred = [], yes }) {
    for (let start = path; ; ) {
        const build = (dialog, end) => dialog.append(...new Picker(start, barred, yes, end).parts);
        const result = await show(title, build);
        if (!(result instanceof Picker)) return result;
        start = await makeFolder(result.path);
    }
}

/** Makes a folder in one, and returns where to go on: in it, or where we were. */
async function makeFolder(path) {
    const name = await askName(t("newFolder"), { yes: t("create"), fault: faultOf });
    if (name === null) return path;
    return api.create(join(path, name)).then(
        () => join(path, name),
        () => path,
    );
}

/** How a place is called: the name of the folder, or that of the root. */
export const placeName = (path) => (path === "" ? t("root") : nameOf(path));
