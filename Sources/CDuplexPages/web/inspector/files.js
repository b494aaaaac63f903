// SPDX-License-Identifier: Apache-2.0
// Folders: the uploader's page of the one that is chosen, in a frame, or its columns, and what is known of the file chosen
// there. That page reports what is selected and opened by events of its window.

import { get } from "./api.js";
import { make } from "./dom.js";
import { FileColumns } from "./files-columns.js";
import { foreign, visible } from "./foreign.js";
import { bytes } from "./format.js";
import { button } from "./icons.js";
import { say } from "./notices.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const names = /\.(?:db|rdb|sqlite|sqlite3)$/iu;

/** The value of an extended attribute: its text, or its bytes in base 16. */
function attribute({ text, hex, size, cut }) {
    const value = text ?? hex.replace(/..(?=.)/gu, "$& ");
    return cut ? `${value} … (${bytes(size)})` : value;
}

/** Opens the part; `parameters` may have the number of a `folder`, a `path` in it, and the `view` "columns". */
export async function open(main, { parameters }) {
    const part = new Files(main, (await get("files/list")).folders);
    part.show(parameters);
    return { close: () => part.close(), change: (wanted) => part.show(wanted) };
}

class Files {
    #folders;
    #folder = null;
    /** The fragment of the page's address that is shown. While it has another one, what that asks for is on its way. */
    #fragment = "";
    #turn = 0;
    #choice = make("select", { id: "folder-choice", "aria-label": t("folder") });
    #frame = make("iframe", { id: "files-frame", class: "files-frame" });
    #columns = null;
    #place = make("div", { class: "files-place" });
    #views = make("div", { class: "tools", role: "group", "aria-label": t("view") });
    #details = make("aside", { id: "file-details", class: "file-details pane", "aria-label": t("aboutSelection") });

    constructor(main, folders) {
        this.#folders = folders;
        this.#choice.append(
            ...folders.map((name, index) => make("option", { value: `${index}`, text: visible(name) })),
        );
        this.#choice.addEventListener("change", () => this.#go({ folder: this.#choice.value, path: "" }));
        for (const [view, text] of [
            ["list", t("list")],
            ["columns", t("columns")],
        ]) {
            this.#views.append(
                make("button", { type: "button", "data-view": view, text, onclick: () => this.#turnTo(view) }),
            );
        }
        this.#choice.hidden = folders.length < 2;
        this.#frame.addEventListener("load", () => this.#listen());
        main.append(
            make("div", { class: "tools" }, this.#choice, this.#views),
            make("div", { class: "files-parts" }, this.#place, this.#details),
        );
        this.#clear();
    }

    close() {
        this.#turn += 1;
        this.#columns?.close();
    }

    /** What the address says of the part, with some of it otherwise. */
    #wish(other) {
        const now = new URLSearchParams(location.hash.split("?")[1] ?? "");
        const wish = {
            folder: now.get("folder") ?? "0",
            path: now.get("path") ?? "",
            view: now.get("view") ?? "list",
            ...other,
        };
        if (wish.view === "list") delete wish.view;
        return `#files?${new URLSearchParams(wish)}`;
    }

    #go(other) {
        location.hash = this.#wish(other);
    }

    show(parameters) {
        this.#fragment = location.hash;
        const folder =
            this.#folders[Number(parameters.get("folder") ?? 0)] === undefined
                ? "0"
                : (parameters.get("folder") ?? "0");
        const path = parameters.get("path") ?? "";
        const view = parameters.get("view") === "columns" ? "columns" : "list";
        this.#choice.value = folder;
        for (const one of this.#views.children) one.setAttribute("aria-pressed", `${one.dataset.view === view}`);
        if (view === "columns") this.#showColumns(folder, path);
        else this.#showList(folder, path);
        this.#folder = folder;
    }

    /** The other view is of the same folder. */
    #turnTo(view) {
        this.#go({ view, ...(this.#columns && { path: this.#columns.path }) });
    }

    #showColumns(folder, path) {
        if (this.#columns !== null && this.#folder === folder) return this.#columns.show(path);
        this.#columns?.close();
        this.#clear();
        this.#columns = new FileColumns(folder, this.#folders[Number(folder)], {
            selected: (entries) => this.#selected(entries),
            opened: (file) => {
                if (names.test(file)) this.#openDatabase(file);
            },
        });
        this.#frame.remove();
        this.#place.replaceChildren(this.#columns.node);
        return this.#columns.show(path);
    }

    #showList(folder, path) {
        this.#frame.title = visible(t("filesOf", { folder: this.#folders[Number(folder)] }));
        const fragment = `#/${path.split("/").map(encodeURIComponent).join("/")}`;
        if (this.#columns === null && this.#folder === folder && this.#frame.contentWindow?.location.hash === fragment)
            return;
        this.#columns?.close();
        this.#columns = null;
        this.#clear();
        this.#frame.src = address(`files/${folder}/`) + fragment;
        // A frame that is put in anew is loaded anew.
        if (!this.#frame.isConnected) this.#place.replaceChildren(this.#frame);
    }

    #listen() {
        const page = this.#frame.contentWindow;
        page.addEventListener("duplex-selected", ({ detail }) => {
            // A folder that is being left may still report.
            if (page.location.pathname.endsWith(`/files/${this.#folder}/`)) this.#selected(detail);
        });
        page.addEventListener("duplex-open", (event) => {
            if (!names.test(event.detail)) return;
            event.preventDefault();
            this.#openDatabase(event.detail);
        });
    }

    #clear() {
        this.#turn += 1;
        this.#details.replaceChildren(make("p", { class: "soft", text: t("selectOne") }));
    }

    async #selected(entries) {
        this.#keepPlace(entries);
        if (entries.length !== 1) {
            this.#clear();
            if (entries.length > 1)
                this.#details.replaceChildren(make("p", { text: t("selectedCount", { count: entries.length }) }));
            return;
        }
        const turn = ++this.#turn;
        try {
            const facts = await get("files/attributes", { folder: this.#folder, path: entries[0].path });
            if (turn === this.#turn) this.#tell(facts);
        } catch (error) {
            if (turn === this.#turn) this.#details.replaceChildren(make("p", { text: visible(error.message) }));
        }
    }

    /** The address of the page leads to the folder that is shown, too. */
    #keepPlace(entries) {
        if (location.hash !== this.#fragment) return;
        if (this.#columns !== null) return this.#lead({ path: entries[0]?.path ?? "" });
        const { hash } = this.#frame.contentWindow.location;
        if (!hash.startsWith("#/")) return;
        try {
            const path = hash.slice(2).split("/").map(decodeURIComponent).join("/");
            this.#lead({ folder: this.#folder, path });
        } catch {
            // An address that can't be read leads nowhere.
        }
    }

    /** Changes the address of the page to what is shown. */
    #lead(place) {
        history.replaceState(null, "", this.#wish(place));
        this.#fragment = location.hash;
    }

    #tell(facts) {
        const time = (seconds) => new Date(seconds * 1000).toLocaleString("en-GB");
        const rows = [
            [t("kind"), facts.type ?? facts.kind],
            [
                t("size"),
                facts.size === undefined ? undefined : t("sizeInBytes", { size: bytes(facts.size), count: facts.size }),
            ],
            [t("changed"), facts.modified === undefined ? undefined : time(facts.modified)],
            [t("mode"), facts.mode],
            [t("owner"), facts.owner],
            [t("group"), facts.group],
            [t("links"), facts.links],
            [t("number"), facts.number],
            [t("path"), facts.path],
        ].filter(([, value]) => value !== undefined);
        const extended = facts.attributes ?? [];
        this.#details.replaceChildren(
            foreign("h3", facts.name),
            make(
                "dl",
                { class: "facts" },
                ...rows.flatMap(([name, value]) => [make("dt", { text: name }), foreign("dd", `${value}`)]),
            ),
        );
        if (extended.length > 0) {
            this.#details.append(
                make("h4", { text: t("extended") }),
                make(
                    "dl",
                    { class: "facts" },
                    ...extended.flatMap((one) => [
                        foreign("dt", one.name),
                        foreign("dd", attribute(one), { class: "mono" }),
                    ]),
                ),
            );
        }
        if (facts.kind === "file") {
            const query = { path: facts.path };
            this.#details.append(
                make(
                    "div",
                    { class: "tools" },
                    make("a", {
                        class: "button",
                        download: "",
                        text: t("download"),
                        href: address(`files/${this.#folder}/download`, query),
                    }),
                ),
            );
        }
        if (facts.database !== undefined) {
            this.#details.lastElementChild.append(
                button("database", {
                    id: "open-database",
                    text: t("openDatabase"),
                    onclick: () => this.#goDatabase(facts.database),
                }),
            );
        }
    }

    async #openDatabase(path) {
        try {
            const { database } = await get("files/attributes", { folder: this.#folder, path });
            if (database !== undefined) this.#goDatabase(database);
            else say(t("noDatabase"), "danger");
        } catch (error) {
            say(error.message, "danger");
        }
    }

    #goDatabase(database) {
        location.hash = `databases?${new URLSearchParams({ database })}`;
    }
}
