// SPDX-License-Identifier: Apache-2.0
// A folder in columns: one for each level, the last one of the folder that is chosen. Arrows go up and down in a column,
// and from column to column; letters go to the next name that begins so.

import { get } from "./api.js";
import { arrange, make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { icon } from "./icons.js";
import { say } from "./notices.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const parentOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const within = (path, name) => (path === "" ? name : `${path}/${name}`);

/** One level: the entries of a folder, of which one may be chosen. */
class Column {
    constructor(owner, path, title) {
        this.owner = owner;
        this.path = path;
        this.entries = [];
        this.rows = new Map();
        this.chosen = null;
        this.node = make("div", { class: "column", role: "listbox", tabindex: "0", "aria-label": visible(title) });
        this.node.addEventListener("keydown", (event) => this.press(event));
        this.node.addEventListener("click", ({ target }) => {
            const row = target.closest("[role=option]");
            if (row) this.choose(row.dataset.name);
            this.node.focus({ preventScroll: true });
        });
        this.node.addEventListener("dblclick", ({ target }) => {
            if (target.closest("[role=option]")) this.owner.open(this.entry);
        });
    }

    get entry() {
        return this.entries.find(({ name }) => name === this.chosen);
    }

    async load() {
        const { entries, isCut } = await get(`${this.owner.base}list`, { path: this.path });
        this.entries = entries.sort(
            (one, other) =>
                Number(other.kind === "folder") - Number(one.kind === "folder") || order.compare(one.name, other.name),
        );
        this.draw(isCut);
    }

    draw(isCut) {
        const old = this.rows;
        this.rows = new Map(this.entries.map((entry) => [entry.name, old.get(entry.name) ?? this.row(entry)]));
        const rest = this.entries.length === 0 ? t("folderEmpty") : isCut ? t("folderCut") : "";
        arrange(this.node, [...this.rows.values(), ...(rest ? [make("p", { class: "soft", text: rest })] : [])]);
        this.mark();
    }

    row({ name, kind }) {
        const id = `entry-${++Column.last}`;
        return make(
            "div",
            { class: "entry", role: "option", id, "data-name": name, "aria-selected": "false" },
            icon(kind === "folder" ? "folder" : "file"),
            foreign("span", name, { class: "label" }),
            kind === "folder" ? make("span", { class: "soft", "aria-hidden": "true", text: "›" }) : "",
        );
    }

    mark() {
        for (const [name, row] of this.rows) row.setAttribute("aria-selected", `${name === this.chosen}`);
        const row = this.rows.get(this.chosen);
        if (row) this.node.setAttribute("aria-activedescendant", row.id);
        else this.node.removeAttribute("aria-activedescendant");
        row?.scrollIntoView({ block: "nearest", inline: "nearest" });
    }

    choose(name) {
        this.chosen = name;
        this.mark();
        this.owner.chose(this, this.entry);
    }

    press(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const place = this.entries.findIndex(({ name }) => name === this.chosen);
        const step = steps[event.key];
        if (step !== undefined) {
            const next = this.entries[Math.min(Math.max(place + step, 0), this.entries.length - 1)];
            if (next) this.choose(next.name);
        } else if (event.key === "ArrowRight") this.owner.forward(this);
        else if (event.key === "ArrowLeft") this.owner.back(this);
        else if (event.key === "Enter") this.owner.open(this.entry);
        else if (event.key.length === 1) this.seek(event.key, place);
        else return;
        event.preventDefault();
    }

    seek(letter, place) {
        const turned = [...this.entries.slice(place + 1), ...this.entries.slice(0, place + 1)];
        const found = turned.find(({ name }) => name.toLowerCase().startsWith(letter.toLowerCase()));
        if (found) this.choose(found.name);
    }
}
Column.last = 0;

/** The columns of a folder; `tells` has `selected(entries)` and `opened(path)`. */
export class FileColumns {
    #title;
    #tells;
    #columns = [];
    #turn = 0;
    #source;
    node = make("div", { id: "files-columns", class: "files-columns", role: "group", "aria-label": t("columns") });

    constructor(folder, title, tells) {
        this.base = `files/${folder}/`;
        this.#title = title;
        this.#tells = tells;
        this.#source = new EventSource(address(`${this.base}changes`));
        this.#source.addEventListener("change", ({ data }) => this.#changed(JSON.parse(data).path));
    }

    close() {
        this.#turn += 1;
        this.#source.close();
    }

    /** The folder of the last column. */
    get path() {
        return this.#columns.at(-1)?.path ?? "";
    }

    /** Shows the columns down to a folder or file. */
    async show(path) {
        const turn = ++this.#turn;
        const names = path === "" ? [] : path.split("/");
        const levels = names.map((name, index) => ({ path: names.slice(0, index).join("/"), name }));
        const columns = [...levels, { path, name: null }].map((level) => {
            const column = new Column(
                this,
                level.path,
                level.path.slice(level.path.lastIndexOf("/") + 1) || this.#title,
            );
            column.chosen = level.name;
            return column;
        });
        const answers = await Promise.allSettled(columns.map((column) => column.load()));
        if (turn !== this.#turn) return;
        // What is no folder, or gone, has no column, and nothing behind it has one.
        const count = answers.findIndex(({ status }) => status === "rejected");
        const [first] = answers;
        if (first.status === "rejected") say(first.reason.message, "danger");
        this.#columns = columns.slice(0, count < 0 ? columns.length : Math.max(1, count));
        this.#draw();
        const last = this.#columns.findLast(({ entry }) => entry !== undefined);
        this.#tell(last, last?.entry);
    }

    #draw() {
        arrange(
            this.node,
            this.#columns.map(({ node }) => node),
        );
        this.#columns.at(-1)?.node.scrollIntoView({ block: "nearest", inline: "end" });
    }

    #tell(column, entry) {
        this.#tells.selected(entry ? [{ path: within(column.path, entry.name), kind: entry.kind }] : []);
    }

    /** Something of a column is chosen: what was behind that column goes, and a folder's own column comes. */
    async chose(column, entry) {
        const turn = ++this.#turn;
        this.#columns.length = this.#columns.indexOf(column) + 1;
        this.#draw();
        this.#tell(column, entry);
        if (entry?.kind !== "folder") return;
        const next = new Column(this, within(column.path, entry.name), entry.name);
        try {
            await next.load();
        } catch (error) {
            return say(error.message, "danger");
        }
        if (turn !== this.#turn) return;
        this.#columns.push(next);
        this.#draw();
    }

    forward(column) {
        const next = this.#columns[this.#columns.indexOf(column) + 1];
        if (!next || next.entries.length === 0) return;
        next.node.focus({ preventScroll: true });
        if (!next.entry) next.choose(next.entries[0].name);
    }

    back(column) {
        const before = this.#columns[this.#columns.indexOf(column) - 1];
        if (!before) return;
        before.node.focus({ preventScroll: true });
        before.choose(before.chosen);
    }

    open(entry) {
        const column = this.#columns.find((one) => one.entry === entry);
        if (entry?.kind === "file") this.#tells.opened(within(column.path, entry.name));
        else if (column) this.forward(column);
    }

    /** Others have changed a folder: what is shown of it is asked for again. */
    #changed(path) {
        const column = this.#columns.find((one) => one.path === path);
        if (!column) return;
        column
            .load()
            .then(() => {
                if (column.chosen !== null && !column.entry) column.choose(null);
            })
            .catch(() => this.show(parentOf(path)));
    }
}
