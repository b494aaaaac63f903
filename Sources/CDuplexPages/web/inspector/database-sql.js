// SPDX-License-Identifier: Apache-2.0
// SQL: statements, what they give, how SQLite goes about them, and those of before.

import { post } from "./api.js";
import { cellOf, showCell } from "./database-cell.js";
import { arrange, keep, make, recall } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { count, duration } from "./format.js";
import { button } from "./icons.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const kept = 50;
const keptAs = "inspector.sql";

/** Shows the editor; `changed` is called after statements that have changed something. */
export function openSQL(place, database, allows, changed) {
    const editor = new Editor(place, database, allows.has("sql"), changed);
    return { close: () => editor.close(), refresh: () => editor.again() };
}

class Editor {
    #database;
    #changed;
    #last = null;
    #running = null;
    #text = make("textarea", {
        id: "sql",
        rows: "5",
        spellcheck: "false",
        autocapitalize: "off",
        "aria-label": t("sql"),
        placeholder: t("statement"),
    });
    #history = make("select", { id: "sql-history", "aria-label": t("statementsBefore") });
    #stop = button("close", { id: "sql-stop", text: t("stop"), hidden: true, onclick: () => this.close() });
    #writes = make("input", { type: "checkbox", id: "sql-writes" });
    #long = make("input", { type: "checkbox", id: "sql-long" });
    #results = make("div", { id: "sql-results", class: "sql-results" });
    #status = make("p", { id: "sql-status", role: "status" });

    constructor(place, database, mayWrite, changed) {
        this.#database = database;
        this.#changed = changed;
        this.#text.value = recall(`${keptAs}.draft`, "");
        this.#text.addEventListener("input", () => keep(`${keptAs}.draft`, this.#text.value.slice(0, 100_000)));
        this.#text.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            this.#run({});
        });
        this.#history.addEventListener("change", () => {
            const text = recall(keptAs, [])[Number(this.#history.value)];
            if (text !== undefined) this.#text.value = text;
            this.#history.value = "";
            this.#text.focus();
        });
        this.#listHistory();
        const tools = make(
            "div",
            { class: "tools" },
            button("play", { id: "sql-run", text: t("run"), title: t("runTip"), onclick: () => this.#run({}) }),
            make("button", {
                type: "button",
                id: "sql-plan",
                text: t("plan"),
                onclick: () => this.#run({ plan: true }),
            }),
            this.#stop,
            this.#history,
        );
        if (mayWrite) {
            tools.append(
                make("label", {}, this.#writes, ` ${t("mayChange")}`),
                make("label", { title: t("mayTakeLongTip") }, this.#long, ` ${t("mayTakeLong")}`),
            );
        }
        place.append(this.#text, tools, this.#status, this.#results);
    }

    close() {
        this.#running?.abort();
    }

    #listHistory() {
        const options = recall(keptAs, []).map((text, index) =>
            make("option", { value: `${index}`, text: visible(text.replaceAll(/\s+/gu, " ").slice(0, 80)) }),
        );
        arrange(this.#history, [make("option", { value: "", text: t("history") }), ...options]);
    }

    #remember(sql) {
        const others = recall(keptAs, []).filter((one) => one !== sql);
        keep(
            keptAs,
            [sql, ...others].slice(0, kept).filter((one) => one.length <= 10_000),
        );
        this.#listHistory();
    }

    /** Runs what was run last once more, if it has only read. */
    again() {
        return this.#last ? this.#run(this.#last) : undefined;
    }

    async #run({ sql = this.#text.value, plan = false }) {
        if (sql.trim() === "") return;
        this.#running?.abort();
        const control = new AbortController();
        this.#running = control;
        const isWriting = this.#writes.checked && !plan;
        this.#status.textContent = t("running");
        this.#stop.hidden = false;
        try {
            const wish = { database: this.#database, sql, plan, mayTakeLong: this.#long.checked };
            const { results } = await post(isWriting ? "databases/execute" : "databases/query", wish, control.signal);
            this.#remember(sql);
            this.#last = isWriting ? null : { sql, plan };
            const changes = results.reduce((sum, one) => sum + one.changes, 0);
            const time = duration(results.reduce((sum, one) => sum + one.seconds, 0));
            this.#status.textContent = isWriting ? t("rowsChanged", { count: changes, time }) : t("done", { time });
            arrange(
                this.#results,
                results.map((one, index) => this.#result(one, sql, index, results.length, { isWriting, plan })),
            );
            if (isWriting) await this.#changed();
        } catch (error) {
            if (control === this.#running) {
                this.#status.textContent = visible(error.name === "AbortError" ? t("stopped") : error.message);
            }
            if (error.name !== "AbortError") arrange(this.#results, []);
        } finally {
            if (control === this.#running) this.#stop.hidden = true;
        }
    }

    #result(result, sql, number, total, { isWriting, plan }) {
        const { columns, rows, isCut, seconds } = result;
        const title = foreign("h3", result.sql.replaceAll(/\s+/gu, " ").slice(0, 120), { class: "grow mono" });
        const shown = `${count(rows.length)}${isCut ? "+" : ""}`;
        const facts = t("rowCount", { count: rows.length, rows: shown, time: duration(seconds) });
        const head = make("div", { class: "tools" }, title, make("span", { class: "badge", text: facts }));
        if (plan) return make("section", { class: "pane", "aria-label": t("plan") }, head, plans(rows));
        if (columns.length === 0) return make("section", { class: "pane", "aria-label": t("result") }, head);
        if (!isWriting && total === 1) {
            head.append(
                ...["csv", "json"].map((format) =>
                    make("a", {
                        class: "button",
                        download: "",
                        text: format.toUpperCase(),
                        href: address("databases/export", { database: this.#database, sql, format }),
                    }),
                ),
            );
        }
        const open = (row, index) =>
            isWriting
                ? () => {}
                : () =>
                      showCell(
                          { database: this.#database, sql, result: number, row, index },
                          t("cellOf", { column: columns[index], number: `${row + 1}` }),
                      );
        const body = rows.map((row, at) =>
            make("tr", {}, ...row.map((cell, column) => cellOf(cell, columns[column], open(at, column)))),
        );
        const grid = make(
            "table",
            { class: "grid cells", "aria-label": t("result") },
            make("thead", {}, make("tr", {}, ...columns.map((name) => foreign("th", name, { scope: "col" })))),
            make("tbody", {}, ...body),
        );
        const section = make(
            "section",
            { class: "pane", "aria-label": t("result") },
            head,
            make("div", { class: "grid-frame", tabindex: "0", role: "region", "aria-label": t("resultRows") }, grid),
        );
        if (isCut) section.append(make("p", { class: "lost-items", text: t("moreRows") }));
        return section;
    }
}

/** The steps of a plan, each below the one that it belongs to: id, parent, unused, detail. */
function plans(rows) {
    const lists = new Map([["0", make("ul", { class: "plan" })]]);
    for (const [id, parent, , detail] of rows) {
        const item = foreign("li", detail?.text ?? "");
        const list = make("ul", { class: "plan" });
        item.append(list);
        lists.set(id?.text, list);
        (lists.get(parent?.text) ?? lists.get("0")).append(item);
    }
    return lists.get("0");
}
