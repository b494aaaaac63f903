// SPDX-License-Identifier: Apache-2.0
// The rows of a table: pages of them, in an order, those that a filter lets through.

import { get } from "./api.js";
import { cellOf, showCell } from "./database-cell.js";
import { arrange, make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { count, duration } from "./format.js";
import { button } from "./icons.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const size = 100;
const comparisons = {
    contains: t("contains"),
    equals: t("equals"),
    differs: t("differs"),
    less: "<",
    greater: ">",
    null: t("isNull"),
    filled: t("isFilled"),
};

/** Shows a table; gives what refreshes and ends it. */
export function openRows(place, database, table) {
    const rows = new Rows(place, database, table);
    rows.load();
    return { close: () => rows.close(), refresh: () => rows.load() };
}

class Rows {
    #database;
    #table;
    #shape = null;
    #offset = 0;
    #order = {};
    #filter = {};
    #loading = null;
    #column = make(
        "select",
        { id: "filter-column", "aria-label": t("filterColumn") },
        make("option", { value: "", text: t("anyColumn") }),
    );
    #comparison = make("select", { id: "filter-is", "aria-label": t("filterComparison") });
    #value = make("input", {
        id: "filter-value",
        type: "search",
        class: "grow",
        placeholder: t("filter"),
        "aria-label": t("filterValue"),
    });
    #status = make("span", { id: "rows-status", role: "status" });
    #back = button("back", { id: "rows-back", label: t("rowsBefore"), onclick: () => this.#turn(-size) });
    #next = button("play", { id: "rows-next", label: t("rowsBehind"), onclick: () => this.#turn(size) });
    #files = ["csv", "json"].map((format) =>
        make("a", {
            class: "button",
            id: `export-${format}`,
            download: "",
            text: format.toUpperCase(),
            "aria-label": t("exportAs", { format: format.toUpperCase() }),
        }),
    );
    #head = make("tr");
    #body = make("tbody", { id: "rows" });
    #scroller = make(
        "div",
        { class: "grid-frame", tabindex: "0", role: "region" },
        make("table", { class: "grid cells", "aria-label": t("rows") }, make("thead", {}, this.#head), this.#body),
    );

    constructor(place, database, table) {
        this.#database = database;
        this.#table = table;
        this.#scroller.setAttribute("aria-label", visible(t("rowsOf", { table })));
        for (const [value, text] of Object.entries(comparisons)) {
            this.#comparison.append(make("option", { value, text }));
        }
        const filter = make(
            "form",
            { class: "tools grow", role: "search", "aria-label": t("filter") },
            this.#column,
            this.#comparison,
            this.#value,
            make("button", { id: "filter-apply", text: t("filter") }),
        );
        filter.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#apply();
        });
        // A field that is emptied, by its cross too, shows all rows again.
        this.#value.addEventListener("search", () => this.#value.value === "" && this.#apply());
        place.append(
            make("div", { class: "tools" }, filter),
            this.#scroller,
            make(
                "div",
                { class: "tools pager" },
                this.#back,
                this.#status,
                this.#next,
                make("span", { class: "grow" }),
                ...this.#files,
            ),
        );
    }

    close() {
        this.#loading?.abort();
    }

    #apply() {
        const comparison = this.#comparison.value;
        const isNeeded = this.#value.value !== "" || comparison === "null" || comparison === "filled";
        this.#filter = isNeeded
            ? { is: comparison, value: this.#value.value, column: this.#column.value || undefined }
            : {};
        this.#offset = 0;
        this.load();
    }

    #turn(step) {
        this.#offset = Math.max(0, this.#offset + step);
        this.load().then(() => this.#scroller.scrollTo(0, 0));
    }

    #sort(name) {
        const { sort, descending } = this.#order;
        if (sort !== name) this.#order = { sort: name };
        else this.#order = descending ? {} : { sort: name, descending: true };
        this.#offset = 0;
        this.load();
    }

    get #selection() {
        return { database: this.#database, table: this.#table, ...this.#order, ...this.#filter };
    }

    async load() {
        this.#loading?.abort();
        const control = new AbortController();
        this.#loading = control;
        this.#status.textContent = "…";
        try {
            const query = { ...this.#selection, offset: this.#offset, count: size };
            const answer = await get("databases/rows", query, control.signal);
            if (control.signal.aborted) return;
            this.#show(answer);
        } catch (error) {
            if (error.name === "AbortError") return;
            this.#status.textContent = visible(error.message);
            this.#body.replaceChildren();
        }
    }

    #show({ table, result }) {
        this.#shape = table;
        const hasNumber = table.rowid !== undefined;
        const chosen = this.#column.value;
        arrange(this.#column, [
            this.#column.firstElementChild,
            ...table.columns.map(({ name }) => make("option", { value: name, text: visible(name) })),
        ]);
        this.#column.value = chosen;
        const names = result.columns.slice(hasNumber ? 1 : 0);
        const heads = names.map((name) => this.#headOf(name));
        if (this.#showsNumber) heads.unshift(foreign("th", table.rowid, { class: "rowid", scope: "col" }));
        arrange(this.#head, heads);
        arrange(
            this.#body,
            result.rows.map((row, index) => this.#row(row, index, names, hasNumber)),
        );
        const { length } = result.rows;
        const range = length === 0 ? t("noRows") : `${count(this.#offset + 1)}–${count(this.#offset + length)}`;
        this.#status.textContent = `${range} · ${duration(result.seconds)}`;
        this.#back.disabled = this.#offset === 0;
        this.#next.disabled = !result.isCut;
        for (const [index, format] of ["csv", "json"].entries()) {
            this.#files[index].href = address("databases/export", { ...this.#selection, format });
        }
    }

    /** Rows' numbers are shown where they aren't a column, too, as an INTEGER PRIMARY KEY is. */
    get #showsNumber() {
        const { rowid, columns } = this.#shape;
        const keys = columns.filter(({ key }) => key > 0);
        return rowid !== undefined && !(keys.length === 1 && keys[0].type.toLowerCase() === "integer");
    }

    #headOf(name) {
        const column = this.#shape.columns.find((one) => one.name === name);
        const isSorted = this.#order.sort === name;
        const sorting = !isSorted ? "none" : this.#order.descending ? "descending" : "ascending";
        const facts = column
            ? [column.type, column.key > 0 ? t("primaryKey") : "", column.isRequired ? t("notNull") : ""]
                  .filter(Boolean)
                  .join(", ")
            : "";
        const sign = { none: "", ascending: " ▲", descending: " ▼" }[sorting];
        return make(
            "th",
            { scope: "col", "aria-sort": sorting, title: visible(facts) },
            make(
                "button",
                { type: "button", class: "head", onclick: () => this.#sort(name), disabled: !column },
                foreign("span", name),
                make("span", { "aria-hidden": "true", text: sign }),
            ),
        );
    }

    #row(row, index, names, hasNumber) {
        const number = hasNumber ? row[0]?.text : undefined;
        const cells = row
            .slice(hasNumber ? 1 : 0)
            .map((cell, column) =>
                cellOf(cell, names[column], () =>
                    showCell(
                        { ...this.#selection, row: this.#offset + index, index: column, rowid: number },
                        t("cellOf", { column: names[column], number: number ?? `${this.#offset + index + 1}` }),
                    ),
                ),
            );
        if (this.#showsNumber) cells.unshift(foreign("td", number ?? "", { class: "rowid number" }));
        return make("tr", {}, ...cells);
    }
}
