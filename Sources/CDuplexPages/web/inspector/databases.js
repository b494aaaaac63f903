// SPDX-License-Identifier: Apache-2.0
// Databases: one is chosen, then a table of it, its schema, or SQL.

import { get } from "./api.js";
import { openRows } from "./database-rows.js";
import { openSQL } from "./database-sql.js";
import { arrange, make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { bytes, count } from "./format.js";
import { button } from "./icons.js";
import { say } from "./notices.js";
import { address } from "./server.js";
import { t } from "./texts.js";

/** Opens the part; `parameters` may name a `database`, and a `table` or the `view` `sql` or `schema`. */
export async function open(main, { parameters, allows }) {
    const part = new Databases(main, allows);
    await part.start(parameters);
    return { close: () => part.close(), change: (wanted) => part.show(wanted) };
}

class Databases {
    #allows;
    #all = [];
    #database = null;
    #schema = null;
    #view = null;
    #shown = {};
    #choice = make("select", { id: "database", "aria-label": t("database") });
    #copy = make("a", { class: "button", id: "database-copy", download: "", text: t("download"), hidden: true });
    #tabs = make("div", { class: "tools", role: "group", "aria-label": t("view") });
    #tables = make("ul", { id: "tables", class: "tables", "aria-label": t("tablesAndViews") });
    #facts = foreign("p", "", { id: "database-facts", class: "database-facts" });
    #place = make("div", { class: "database-view", id: "database-view" });

    constructor(main, allows) {
        this.#allows = allows;
        const tools = make(
            "div",
            { class: "tools" },
            this.#choice,
            this.#tabs,
            this.#copy,
            button("again", { id: "refresh", label: t("refresh"), onclick: () => this.#refresh() }),
        );
        const side = make("nav", { class: "database-side", "aria-label": t("tables") }, this.#tables);
        main.append(tools, this.#facts, make("div", { class: "database-frame" }, side, this.#place));
        this.#choice.addEventListener("change", () => this.#go({ database: this.#choice.value }));
        for (const [view, text] of [
            ["rows", t("rows")],
            ["sql", t("sql")],
            ["schema", t("schema")],
        ]) {
            this.#tabs.append(
                make("button", { type: "button", "data-view": view, text, onclick: () => this.#go({ view }) }),
            );
        }
    }

    async start(parameters) {
        await this.#list();
        await this.show(parameters);
    }

    close() {
        this.#view?.close();
        this.#view = null;
    }

    async #list() {
        this.#all = (await get("databases/list")).databases;
        arrange(
            this.#choice,
            this.#all.map(({ id, size }) =>
                make("option", { value: id, text: visible(size === undefined ? id : `${id} (${bytes(size)})`) }),
            ),
        );
    }

    /** Shows something else: what isn't said stays as it is. */
    #go(changes) {
        const next = changes.database === undefined ? { ...this.#shown, ...changes } : changes;
        const query = new URLSearchParams(Object.entries(next).filter(([, value]) => value));
        location.hash = `databases?${query}`;
    }

    async show(parameters) {
        const database = parameters.get("database") ?? this.#all[0]?.id;
        if (database === undefined) return this.#tell(t("noDatabases"));
        const view = parameters.get("view") ?? "rows";
        const table = parameters.get("table") ?? undefined;
        this.#shown = { database, table, view };
        this.#choice.value = database;
        for (const tab of this.#tabs.children) {
            tab.setAttribute("aria-pressed", `${tab.dataset.view === view}`);
        }
        try {
            if (this.#database !== database) await this.#load(database);
            this.#draw();
        } catch (error) {
            this.#tell(error.message);
        }
    }

    async #load(database) {
        this.#database = null;
        this.#schema = null;
        this.#copy.hidden = true;
        arrange(this.#tables, []);
        this.#facts.textContent = "";
        this.#schema = await get("databases/schema", { database });
        this.#database = database;
        this.#copy.href = address("databases/download", { database });
        this.#copy.hidden = false;
        const { encoding, page_count: pages, page_size: size, user_version: version } = this.#schema;
        const journal = t("journal", { mode: `${this.#schema.journal_mode}` });
        const facts = [journal, encoding, t("version", { version: `${version}` })];
        if (pages && size) facts.push(t("pageCount", { count: pages, size: bytes(size) }));
        this.#facts.textContent = visible(facts.join(" · "));
    }

    #draw() {
        this.close();
        const { database, view } = this.#shown;
        const tables = this.#schema.objects.filter(({ kind }) => kind === "table" || kind === "view");
        const table = this.#shown.table ?? tables.find(({ name }) => !name.startsWith("sqlite_"))?.name;
        arrange(
            this.#tables,
            tables.map((one) => this.#entry(one, view === "rows" && one.name === table)),
        );
        this.#place.replaceChildren();
        if (view === "sql") this.#view = openSQL(this.#place, database, this.#allows, () => this.#changed());
        else if (view === "schema") this.#view = showSchema(this.#place, this.#schema);
        else if (table === undefined) this.#tell(t("noTables"));
        else this.#view = openRows(this.#place, database, table);
    }

    #entry({ name, kind, count: number }, isShown) {
        const { countLimit } = this.#schema;
        const counted = number === undefined ? "" : number > countLimit ? `${count(countLimit)}+` : count(number);
        return make(
            "li",
            {},
            make(
                "button",
                {
                    type: "button",
                    class: `table-choice ${kind}`,
                    "aria-current": isShown ? "true" : false,
                    onclick: () => this.#go({ table: name, view: "rows" }),
                },
                foreign("span", name, { class: "table-name" }),
                make("span", {
                    class: "table-count",
                    text: kind === "view" ? t("viewCount", { count: counted }) : counted,
                }),
            ),
        );
    }

    async #refresh() {
        try {
            await this.#list();
            this.#choice.value = this.#shown.database;
            await this.#load(this.#shown.database);
            if (this.#view?.refresh) await this.#view.refresh();
            else this.#draw();
        } catch (error) {
            say(error.message, "danger");
        }
    }

    /** After SQL that writes: the tables may be others. */
    async #changed() {
        await this.#load(this.#shown.database);
        const tables = this.#schema.objects.filter(({ kind }) => kind === "table" || kind === "view");
        arrange(
            this.#tables,
            tables.map((one) => this.#entry(one, false)),
        );
    }

    #tell(text) {
        this.close();
        this.#place.replaceChildren(make("p", { class: "pane", role: "status", text: visible(text) }));
    }
}

/** All that the schema has, each with its SQL. */
function showSchema(place, { objects, isCut }) {
    const titles = { table: t("tables"), view: t("schemaViews"), index: t("indexes"), trigger: t("triggers") };
    const scroller = make("div", { class: "schema", tabindex: "0", "aria-label": t("schema") });
    for (const [kind, title] of Object.entries(titles)) {
        const some = objects.filter((one) => one.kind === kind);
        if (some.length === 0) continue;
        scroller.append(
            make("h3", { text: `${title} (${count(some.length)})` }),
            ...some.map((one) =>
                make(
                    "details",
                    {},
                    foreign(
                        "summary",
                        one.table && one.table !== one.name
                            ? t("ofTable", { name: one.name, table: one.table })
                            : one.name,
                    ),
                    foreign("pre", one.sql ?? t("madeBySQLite"), { class: "text" }),
                ),
            ),
        );
    }
    if (isCut) scroller.append(make("p", { class: "lost-items", text: t("schemaCut") }));
    place.append(scroller);
    return { close() {} };
}
