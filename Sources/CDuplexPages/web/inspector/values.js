// SPDX-License-Identifier: Apache-2.0
// Settings and values: groups of rows, each of which becomes a field where the app allows that.

import { get, post } from "./api.js";
import { arrange, byId, make } from "./dom.js";
import { field } from "./fields.js";
import { foreign, visible } from "./foreign.js";
import { button } from "./icons.js";
import { watch } from "./live.js";
import { say } from "./notices.js";
import { t } from "./texts.js";

const notes = { defaults: t("defaultsNote"), environment: t("environmentNote"), arguments: t("argumentsNote") };

/** One value: what is shown of it, and its field while it is edited. */
class Row {
    constructor(page, group) {
        this.page = page;
        this.group = group;
        this.name = foreign("th", "", { scope: "row" });
        this.value = make("td", { class: "value" });
        this.actions = make("td", { class: "actions" });
        this.node = make("tr", {}, this.name, this.value, this.actions);
        this.editor = null;
    }

    update(item) {
        const isSame = this.item && JSON.stringify(this.item) === JSON.stringify(item);
        this.item = item;
        if (isSame) return;
        this.node.dataset.name = item.name;
        this.name.textContent = visible(item.name);
        if (this.editor) this.tellChange();
        else this.show();
    }

    show() {
        const { item } = this;
        this.editor = null;
        const parts = [];
        if (item.error !== undefined) parts.push(foreign("p", item.error, { class: "fault" }));
        else parts.push(foreign("pre", item.text, { class: "text" }));
        if (item.secret) parts.push(make("span", { class: "badge", text: t("secret") }));
        if (item.cut) parts.push(make("span", { class: "badge", text: t("valueCut") }));
        this.value.replaceChildren(...parts);
        this.actions.replaceChildren();
        if (!item.editable || !this.page.allows) return;
        this.actions.append(
            make("button", {
                type: "button",
                text: t("edit"),
                "aria-label": t("editOne", { name: visible(item.name) }),
                onclick: () => this.edit(),
            }),
        );
        if (this.group.source === "defaults") {
            this.actions.append(
                button("trash", {
                    label: t("removeOne", { name: visible(item.name) }),
                    class: "danger",
                    onclick: () => this.remove(),
                }),
            );
        }
    }

    edit() {
        const { item } = this;
        const label = t("newValueOf", { name: visible(item.name) });
        const input = field({ ...item, initial: item.secret ? "" : item.text, label, isLong: item.kind === "text" });
        this.note = make("p", { class: "fault", role: "status" });
        const form = make(
            "form",
            { class: "edit" },
            input.node,
            make(
                "div",
                { class: "tools" },
                make("button", { type: "submit", class: "primary", text: t("save") }),
                make("button", { type: "button", text: t("cancel"), onclick: () => this.leave() }),
            ),
            this.note,
        );
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.save();
        });
        form.addEventListener("keydown", (event) => {
            if (event.key === "Escape") this.leave();
            else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.save();
        });
        this.editor = { input, version: item.version };
        this.value.replaceChildren(form);
        this.actions.replaceChildren();
        input.focus();
    }

    leave() {
        this.show();
        this.actions.querySelector("button")?.focus();
    }

    /** Says what the value is now; who saves from here on has seen it. */
    tellChange() {
        if (this.item.version === this.editor.version) return;
        const now = this.item.error ?? this.item.text;
        this.note.textContent = t("hasChanged", { value: visible(now) });
        this.editor.version = this.item.version;
    }

    async save() {
        const { input, version } = this.editor;
        const wish = { group: this.group.name, name: this.item.name, text: input.value, version };
        try {
            const state = await post("values/set", wish);
            this.editor = null;
            this.item = null;
            this.page.take(state);
            byId("live").textContent = t("isSet", { name: visible(wish.name) });
            this.actions.querySelector("button")?.focus();
        } catch (error) {
            if (error.status === 409) await this.page.refresh();
            if (this.editor) this.note.textContent = visible(error.message);
        }
    }

    async remove() {
        const { name, version } = this.item;
        try {
            this.page.take(await post("values/remove", { group: this.group.name, name, version }));
            say(t("isRemoved", { name }));
        } catch (error) {
            say(error.message, "danger");
            await this.page.refresh();
        }
    }
}

/** Values under one heading. */
class Section {
    constructor(page, group) {
        this.page = page;
        this.group = group;
        this.rows = new Map();
        this.count = make("span", { class: "badge" });
        this.body = make("tbody");
        this.empty = make("p", { class: "soft", text: t("nothingHere") });
        const title = foreign("h3", group.name);
        const head = make("div", { class: "tools" }, title, this.count);
        if (notes[group.source]) head.append(make("span", { class: "soft", text: notes[group.source] }));
        const table = make(
            "table",
            { class: "grid values", "aria-label": visible(group.name) },
            make("colgroup", {}, make("col", { class: "names" }), make("col"), make("col", { class: "deeds" })),
            make(
                "thead",
                { class: "spoken" },
                make(
                    "tr",
                    {},
                    make("th", { scope: "col", text: t("name") }),
                    make("th", { scope: "col", text: t("value") }),
                    make("th", { scope: "col", text: t("actions") }),
                ),
            ),
            this.body,
        );
        this.frame = make("div", { class: "grid-frame" }, table);
        this.node = make("section", {}, head, this.frame, this.empty);
    }

    update(group, wanted) {
        this.group = group;
        const found = group.items.filter(
            (item) => !wanted || `${item.name}\n${item.text}`.toLowerCase().includes(wanted),
        );
        const names = new Set(group.items.map((item) => item.name));
        for (const name of this.rows.keys()) if (!names.has(name)) this.rows.delete(name);
        const rows = group.items.map((item) => {
            if (!this.rows.has(item.name)) this.rows.set(item.name, new Row(this.page, group));
            const row = this.rows.get(item.name);
            row.update(item);
            return [item, row];
        });
        const shown = new Set(found);
        arrange(
            this.body,
            rows.filter(([item, row]) => shown.has(item) || row.editor).map(([, row]) => row.node),
        );
        this.count.textContent = wanted
            ? t("foundOf", { found: `${found.length}`, count: `${group.items.length}` })
            : `${group.items.length}`;
        this.frame.hidden = found.length === 0;
        this.empty.hidden = found.length > 0;
        this.node.hidden = Boolean(wanted) && found.length === 0;
    }
}

class ValuesPage {
    constructor(main, allows) {
        this.allows = allows;
        this.sections = new Map();
        this.search = make("input", {
            type: "search",
            id: "values-search",
            class: "grow",
            placeholder: t("findValue"),
            "aria-label": t("findValue"),
            oninput: () => this.draw(),
        });
        const tools = make("div", { class: "tools" }, this.search);
        if (!allows) tools.append(make("span", { class: "badge", text: t("readOnly") }));
        this.list = make("div", { id: "values-list", class: "sections" });
        main.append(tools, this.list);
    }

    take(state) {
        this.state = state;
        this.draw();
    }

    draw() {
        if (!this.state) return;
        const wanted = this.search.value.trim().toLowerCase();
        const nodes = this.state.groups.map((group) => {
            const key = `${group.source} ${group.name}`;
            if (!this.sections.has(key)) this.sections.set(key, new Section(this, group));
            const section = this.sections.get(key);
            section.update(group, wanted);
            return section.node;
        });
        arrange(this.list, nodes);
    }

    async refresh() {
        try {
            this.take(await get("values"));
        } catch (error) {
            say(error.message, "danger");
        }
    }
}

/** Shows the part. */
export function open(main, { allows }) {
    const page = new ValuesPage(main, allows.has("values"));
    const end = watch("values", (items) => page.take(items.at(-1)), { onError: (text) => say(text, "danger") });
    return { close: end };
}
