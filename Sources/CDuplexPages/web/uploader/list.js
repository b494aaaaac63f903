// SPDX-License-Identifier: Apache-2.0
// The grid of entries: rows, focus, selection and keys. What is done to entries is reported to its owner.

import { arrange, byId, make } from "./dom.js";
import { formatDate, formatMoment, formatSize } from "./format.js";
import { icon } from "./icons.js";
import { kindOf } from "./kinds.js";
import { Order } from "./order.js";
import { fragmentOf, parentOf } from "./paths.js";
import { Selection } from "./selection.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const firstSlice = 200;
const slice = 400;
const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

export class FileList {
    #owner;
    #grid = byId("grid");
    #body = byId("rows");
    #order = new Order(() => this.show(this.entries));
    #rows = new Map();
    #drawn = 0;
    #isHeld = false;
    #typed = { text: "", at: 0 };
    selection = new Selection();
    entries = [];
    focused = null;
    /** How often somebody has clicked or pressed a key in it. */
    uses = 0;

    /**
     * The owner has `open(entry)`, `selected()` and `key(event)`; the last for keys that are not the list's.
     */
    constructor(owner) {
        this.#owner = owner;
        const count = () => {
            this.uses += 1;
        };
        for (const use of ["click", "keydown"]) this.#grid.addEventListener(use, count, true);
        this.#body.addEventListener("click", (event) => this.#clicked(event));
        this.#body.addEventListener("dblclick", (event) => this.#doubleClicked(event));
        this.#body.addEventListener("keydown", (event) => this.#pressed(event));
        this.#body.addEventListener("focusin", ({ target }) => {
            if (target.dataset.key !== undefined) this.#setFocused(target.dataset.key);
        });
        byId("select-all").addEventListener("change", ({ target }) => {
            if (target.checked) this.selection.all(this.keys);
            else this.selection.clear();
            this.#marked();
        });
    }

    get keys() {
        return this.entries.map(({ key }) => key);
    }

    get chosen() {
        return this.entries.filter(({ key }) => this.selection.has(key));
    }

    entry(key) {
        return this.entries.find((one) => one.key === key);
    }

    rowOf(key) {
        this.#drawAll();
        return this.#rows.get(key)?.node;
    }

    /** Shows entries in order. Rows that are the same stay, and so do the focus and what is selected. */
    show(entries, { isNew = false } = {}) {
        const hadFocus = this.#body.contains(document.activeElement);
        const place = this.entries.findIndex(({ key }) => key === this.focused);
        this.entries = this.#order.sorted(entries);
        if (this.#isHeld) return;
        if (isNew) this.selection.clear();
        this.selection.keepOnly(this.keys);
        const old = this.#rows;
        this.#rows = new Map();
        // As many as before, so that what is scrolled to stays where it is.
        const count = isNew ? firstSlice : Math.max(firstSlice, this.#drawn);
        this.#drawn = 0;
        this.#drawUpTo(count, old);
        arrange(
            this.#body,
            [...this.#rows.values()].map(({ node }) => node),
        );
        this.#grid.setAttribute("aria-rowcount", this.entries.length + 1);
        this.#drawLater(old);
        const isThere = this.entries.some(({ key }) => key === this.focused);
        const near = this.entries[Math.min(Math.max(place, 0), this.entries.length - 1)]?.key ?? null;
        this.#setFocused(isThere && !isNew ? this.focused : isNew ? (this.entries[0]?.key ?? null) : near);
        if (hadFocus) this.focus();
        this.#marked();
    }

    /** Leaves the rows as they are while one of them is edited. */
    hold(isHeld) {
        this.#isHeld = isHeld;
        if (!isHeld) this.show(this.entries);
    }

    /** Draws all rows again, in another language. */
    redraw() {
        this.#rows.clear();
        this.show(this.entries);
    }

    focus(key = this.focused) {
        const row = key === null ? null : this.rowOf(key);
        if (!row) return byId("card").focus({ preventScroll: true });
        this.#setFocused(key);
        row.focus({ preventScroll: true });
        row.scrollIntoView({ block: "nearest" });
    }

    /** Selects entries, such as those that were just made, and brings the first of them into sight. */
    select(keys) {
        const present = keys.filter((key) => this.#rows.has(key) || this.entry(key));
        if (present.length === 0) return;
        this.selection.all(present);
        this.#setFocused(present[0]);
        this.rowOf(present[0]).scrollIntoView({ block: "nearest" });
        this.#marked();
    }

    #drawUpTo(count, old) {
        for (; this.#drawn < Math.min(count, this.entries.length); this.#drawn += 1) {
            const entry = this.entries[this.#drawn];
            const same = old.get(entry.key);
            const row = same?.print === entry.print ? same : { node: this.#makeRow(entry), print: entry.print };
            row.node.setAttribute("aria-rowindex", this.#drawn + 2);
            this.#rows.set(entry.key, row);
        }
    }

    /** The rows beyond the first come a slice at a time, so that a folder of thousands is there at once. */
    #drawLater(old) {
        const rows = this.#rows;
        const draw = () => {
            if (rows !== this.#rows || this.#drawn >= this.entries.length) return;
            this.#append(this.#drawn + slice, old);
            requestAnimationFrame(draw);
        };
        requestAnimationFrame(draw);
    }

    #append(count, old) {
        const from = this.#drawn;
        this.#drawUpTo(count, old);
        this.#body.append(...this.entries.slice(from, this.#drawn).map(({ key }) => this.#rows.get(key).node));
        this.#markRows(this.entries.slice(from, this.#drawn));
    }

    #drawAll() {
        if (this.#drawn < this.entries.length) this.#append(this.entries.length, new Map());
    }

    #makeRow(entry) {
        const { key, name, kind, path, size, modified, place, isTrash } = entry;
        const box = make("input", { type: "checkbox", tabindex: -1, "aria-label": t("selectOne", { name }) });
        const href = kind === "folder" ? fragmentOf(path) : address("view", { path });
        const label = isTrash
            ? make("span", { class: "label", text: name })
            : make("a", { class: "label", href, text: name, tabindex: -1, draggable: "false" });
        const cell = make("span", { class: "name", role: "gridcell" }, icon(kindOf(entry)), label);
        if (place !== undefined) cell.append(make("small", { class: "place", text: place }));
        const date = make("time", {
            datetime: modified.toISOString(),
            title: formatMoment(modified),
            text: formatDate(modified),
        });
        return make(
            "div",
            {
                class: `row ${kind}`,
                role: "row",
                tabindex: -1,
                "data-key": key,
                "aria-selected": "false",
                draggable: isTrash ? null : "true",
            },
            make("span", { class: "check", role: "gridcell" }, box),
            cell,
            make("span", { class: "size", role: "gridcell", text: kind === "folder" ? "" : formatSize(size) }),
            make("span", { class: "date", role: "gridcell" }, date),
        );
    }

    #setFocused(key) {
        this.#rows.get(this.focused)?.node.setAttribute("tabindex", -1);
        this.focused = key;
        this.#rows.get(key)?.node.setAttribute("tabindex", 0);
    }

    #marked() {
        this.#markRows(this.entries.slice(0, this.#drawn));
        const all = byId("select-all");
        all.checked = this.entries.length > 0 && this.selection.size === this.entries.length;
        all.indeterminate = this.selection.size > 0 && !all.checked;
        all.disabled = this.entries.length === 0;
        this.#owner.selected();
    }

    #markRows(entries) {
        for (const { key } of entries) {
            const { node } = this.#rows.get(key);
            const isChosen = this.selection.has(key);
            if (node.ariaSelected === String(isChosen)) continue;
            node.ariaSelected = String(isChosen);
            node.querySelector("input").checked = isChosen;
        }
    }

    clear() {
        this.selection.clear();
        this.#marked();
    }

    #clicked(event) {
        const row = event.target.closest(".row");
        if (!row || event.target.matches("input[type=text]")) return;
        const { key } = row.dataset;
        const isLink = event.target.matches("a");
        if (isLink && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
            event.preventDefault();
            this.#setFocused(key);
            return this.#owner.open(this.entry(key));
        }
        if (isLink) event.preventDefault();
        const isToggle = event.ctrlKey || event.metaKey || event.target.matches("input, .check");
        if (event.shiftKey) this.selection.extend(key, this.keys);
        else if (isToggle) this.selection.toggle(key);
        else this.selection.only(key);
        this.#setFocused(key);
        row.focus({ preventScroll: true });
        this.#marked();
    }

    #doubleClicked(event) {
        const row = event.target.closest(".row");
        if (row && !event.target.closest("input, a, .check")) this.#owner.open(this.entry(row.dataset.key));
    }

    #pressed(event) {
        if (event.target.matches("input[type=text]")) return;
        const isCommand = event.ctrlKey || event.metaKey;
        const step = steps[event.key];
        if (step !== undefined && !event.altKey) this.#step(step, event);
        else if (event.key === " ") this.#toggle();
        else if (event.key === "Enter" && !isCommand) this.#owner.open(this.entry(this.focused));
        else if (isCommand && event.key.toLowerCase() === "a") this.#selectAll();
        else if (this.#owner.key(event)) event.preventDefault();
        else if (!isCommand && !event.altKey && event.key.length === 1) return this.#seek(event.key);
        else return;
        event.preventDefault();
    }

    #step(step, { shiftKey }) {
        const place = this.entries.findIndex(({ key }) => key === this.focused);
        const next = this.entries[Math.min(Math.max(place + step, 0), this.entries.length - 1)];
        if (!next) return;
        if (shiftKey) {
            this.selection.anchor(this.focused);
            this.selection.extend(next.key, this.keys);
            this.#marked();
        }
        this.focus(next.key);
    }

    #toggle() {
        this.selection.toggle(this.focused);
        this.#marked();
    }

    #selectAll() {
        this.selection.all(this.keys);
        this.#marked();
    }

    /** Letters go to the next name that begins with them. */
    #seek(letter) {
        const now = performance.now();
        const isOne = now - this.#typed.at > 800;
        this.#typed = { text: (isOne ? "" : this.#typed.text) + letter.toLowerCase(), at: now };
        const place = this.entries.findIndex(({ key }) => key === this.focused) + (isOne ? 1 : 0);
        const turned = [...this.entries.slice(place), ...this.entries.slice(0, place)];
        const found = turned.find(({ name }) => name.toLowerCase().startsWith(this.#typed.text));
        if (found) this.focus(found.key);
    }
}

/** An entry as the list wants it, out of one of the API; `folder` is where it lies. */
export function entryOf(raw, folder, { isFound = false } = {}) {
    const path = raw.path ?? (folder === "" ? raw.name : `${folder}/${raw.name}`);
    const name = raw.name ?? path.slice(path.lastIndexOf("/") + 1);
    const modified = new Date(raw.modified ?? raw.deleted);
    const isTrash = raw.deleted !== undefined;
    const place = isFound || isTrash ? parentOf(path) || t("root") : undefined;
    const print = `${path} ${raw.kind} ${raw.size} ${modified.getTime()} ${raw.tag}`;
    return { ...raw, key: isTrash ? raw.id : path, path, name, modified, isTrash, place, print };
}
