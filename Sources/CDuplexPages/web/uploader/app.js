// SPDX-License-Identifier: Apache-2.0
// The page: which folder is shown, and what leads from one part to another.

import { Actions } from "./actions.js";
import { api } from "./api.js";
import { Changes } from "./changes.js";
import { showCrumbs } from "./crumbs.js";
import { showKeys } from "./dialogs.js";
import { byId, make } from "./dom.js";
import { formatSize } from "./format.js";
import { drawIcons } from "./icons.js";
import { Intake } from "./intake.js";
import { actionOf, watchKeys } from "./keys.js";
import { entryOf, FileList } from "./list.js";
import { announce, complain, showConnection } from "./notices.js";
import { fragmentOf, isWithin, parentOf, viewOf } from "./paths.js";
import { preview } from "./preview.js";
import { renameIn } from "./rename.js";
import { choose, language, languages, t, translate } from "./texts.js";

const typingPause = 250;
const changePause = 120;
const abovePause = 500;

class App {
    /** @type {{ kind: string, path: string, text?: string }} */
    #view = { kind: "folder", path: "" };
    #shown = null;
    #mayWrite = false;
    #space = {};
    /** The request for what is shown, the end of it, and whether it is for another view than the one shown. */
    #loading = null;
    #loaded = null;
    #isNew = false;
    #timers = {};
    #list = new FileList({
        open: (entry) => this.#open(entry),
        selected: () => this.#selected(),
        key: (event) => this.#key(event),
    });
    #actions = new Actions(() => {
        const { uses } = this.#list;
        return (paths) => this.#reload(paths, uses);
    });
    #intake = new Intake({
        list: this.#list,
        actions: this.#actions,
        view: () => this.#view,
        mayChange: () => this.#mayChange,
        targets: () => this.#targets,
        changed: () => this.#soon("changed", changePause),
    });

    start() {
        translate();
        drawIcons();
        const { logo } = document.documentElement.dataset;
        if (logo) byId("logo").append(make("img", { src: logo, alt: "" }));
        this.#watchButtons();
        this.#watchFields();
        this.#watchPlace();
        new Changes({
            changed: (path) => this.#othersChanged(path),
            lost: () => showConnection(false),
            back: () => {
                showConnection(true);
                this.#reload();
            },
        });
        // An answer to an earlier request says nothing about now: ask again.
        addEventListener("offline", () => this.#load(false));
        this.#go(viewOf(location));
    }

    // Where we are

    #watchPlace() {
        const { kind, path } = viewOf(location);
        history.replaceState(null, "", kind === "trash" ? "#trash" : fragmentOf(path));
        addEventListener("popstate", () => this.#go(viewOf(location)));
    }

    /** Shows a view, and the part of the page that belongs to it. */
    #go(view) {
        this.#view = view;
        if (view.kind !== "search") byId("search").value = "";
        return this.#load(true);
    }

    #visit(path) {
        history.pushState(null, "", fragmentOf(path));
        return this.#go({ kind: "folder", path });
    }

    #up() {
        const { kind, path } = this.#view;
        if (kind !== "folder") return this.#visit(path);
        if (path === "") return;
        this.#visit(parentOf(path)).then(() => this.#list.focus(path));
    }

    /** Fetches what is shown. A question that a later one has overtaken ends with that, and as new as it was. */
    #load(isNew) {
        this.#loading?.abort();
        this.#loading = new AbortController();
        this.#isNew ||= isNew;
        this.#loaded = this.#ask(this.#view, this.#loading);
        return this.#loaded;
    }

    async #ask(view, control) {
        byId("busy").hidden = !this.#isNew;
        try {
            const answer = await this.#fetch(view, control.signal);
            if (control.signal.aborted) return this.#loaded;
            const isNew = this.#isNew;
            this.#isNew = false;
            showConnection(true);
            this.#show(view, answer, isNew);
        } catch (error) {
            if (error.name === "AbortError") return this.#loaded;
            if (error.status === 0) showConnection(false);
            else this.#failed(view, error);
        } finally {
            if (control === this.#loading) byId("busy").hidden = true;
        }
    }

    #fetch({ kind, path, text }, signal) {
        if (kind === "trash") return api.trash(signal);
        return kind === "search" ? api.search(path, text, signal) : api.list(path, signal);
    }

    /** A folder that is gone leads to the one above. */
    #failed({ kind, path }, error) {
        complain(error);
        if (kind !== "folder" || error.status !== 404 || path === "") return;
        history.replaceState(null, "", fragmentOf(parentOf(path)));
        this.#go({ kind: "folder", path: parentOf(path) });
    }

    #show(view, answer, isNew) {
        if (answer.mayWrite !== undefined) this.#mayWrite = answer.mayWrite;
        if (answer.free !== undefined) this.#space = answer;
        const isChanged = this.#shown?.kind !== view.kind || this.#shown.path !== view.path;
        this.#shown = view;
        const entries = (answer.entries ?? answer.items).map((raw) =>
            entryOf(raw, view.path, { isFound: view.kind === "search" }),
        );
        this.#list.show(entries, { isNew: isNew && isChanged });
        byId("cut").hidden = !answer.isCut && !answer.unlisted;
        this.#frame();
        if (isNew) announce(`${byId("place").textContent}: ${byId("count").textContent}`);
    }

    /** What is around the list. */
    #frame() {
        const { kind, text } = this.#view;
        const isTrash = kind === "trash";
        const count = this.#list.entries.length;
        showCrumbs(this.#view);
        document.body.dataset.view = kind;
        for (const id of ["upload", "upload-folder", "new-folder", "show-trash"]) {
            byId(id).hidden = isTrash || !this.#mayWrite;
        }
        byId("empty-trash").hidden = !isTrash || count === 0 || !this.#mayWrite;
        byId("column-date").firstElementChild.textContent = t(isTrash ? "deletedAt" : "changed");
        byId("grid").hidden = count === 0;
        byId("empty").hidden = count > 0;
        byId("empty-text").textContent = isTrash
            ? t("trashEmpty")
            : kind === "search"
              ? t("nothingFound", { text })
              : t(this.#mayWrite ? "isEmpty" : "isEmptyToRead");
        byId("count").textContent = t(kind === "search" ? "found" : "count", { count });
        const { free, quota } = this.#space;
        const space =
            typeof free !== "number"
                ? ""
                : typeof quota === "number"
                  ? t("freeOf", { free: formatSize(free), quota: formatSize(quota) })
                  : t("free", { free: formatSize(free) });
        byId("space").textContent = this.#mayWrite ? space : t("readOnly");
    }

    /** Selects what has these paths, unless the list was used since: whoever has chosen something means that. */
    async #reload(paths = [], uses = this.#list.uses) {
        await this.#load(false);
        if (uses === this.#list.uses) this.#list.select(paths);
    }

    /**
     * Runs `#reload` a little later, and once for many reasons.
     *
     * @param {() => any} run
     */
    #soon(name, pause, run = () => this.#reload()) {
        clearTimeout(this.#timers[name]);
        this.#timers[name] = setTimeout(run, pause);
    }

    #othersChanged(path) {
        const { kind, path: shown } = this.#view;
        const isOurs = kind === "folder" ? path === shown : kind === "trash" || isWithin(path, shown);
        if (isOurs) this.#soon("changed", changePause);
        // The folder shown may be one of those that went from there.
        else if (isWithin(shown, path)) this.#soon("above", abovePause);
    }

    // The list

    async #open(entry) {
        if (!entry || entry.isTrash) return;
        if (entry.kind === "folder") {
            await this.#visit(entry.path);
            return this.#list.focus();
        }
        // A page that has this one in a frame may open it in its own way.
        const event = new CustomEvent("duplex-open", { cancelable: true, detail: entry.path });
        if (!dispatchEvent(event)) return;
        const files = this.#list.entries.filter(({ kind }) => kind === "file");
        const last = await preview(files, entry);
        this.#list.focus(last?.key ?? entry.key);
    }

    /** The entries that an action is for: those selected, or else the one with the focus. */
    get #targets() {
        const some = this.#list.chosen;
        const one = this.#list.entry(this.#list.focused);
        return some.length > 0 ? some : one ? [one] : [];
    }

    #selected() {
        const { chosen: some } = this.#list;
        const isTrash = this.#view.kind === "trash";
        const isOne = some.length === 1;
        dispatchEvent(
            new CustomEvent("duplex-selected", {
                detail: isTrash ? [] : some.map(({ path, kind }) => ({ path, kind })),
            }),
        );
        byId("selection").hidden = some.length === 0;
        const size = some.reduce((sum, one) => sum + (one.kind === "file" ? one.size : 0), 0);
        const count = t("selected", { count: some.length });
        byId("selected-count").textContent = size > 0 ? `${count} · ${formatSize(size)}` : count;
        byId("open").hidden = !isOne || isTrash;
        byId("download").hidden = isTrash;
        byId("rename").hidden = !isOne || isTrash || !this.#mayWrite;
        for (const id of ["move", "copy", "delete"]) byId(id).hidden = isTrash || !this.#mayWrite;
        byId("restore").hidden = !isTrash || !this.#mayWrite;
    }

    #key(event) {
        const action = actionOf(event);
        if (action === "rename") this.#rename();
        else if (action === "delete") this.#delete();
        return action !== undefined;
    }

    get #mayChange() {
        return this.#mayWrite && this.#view.kind !== "trash";
    }

    async #rename() {
        const { chosen, focused } = this.#list;
        const entry = chosen.length === 1 ? chosen[0] : this.#list.entry(focused);
        if (!entry || !this.#mayChange) return;
        this.#list.hold(true);
        const name = await renameIn(this.#list.rowOf(entry.key), entry);
        this.#list.hold(false);
        if (name !== null) await this.#actions.rename(entry, name);
        this.#list.focus();
    }

    async #delete() {
        if (!this.#mayChange || this.#targets.length === 0) return;
        const isInList = ["rows", "selection"].some((id) => byId(id).contains(document.activeElement));
        await this.#actions.delete(this.#targets);
        if (isInList) this.#list.focus();
    }

    async #act(name) {
        await this.#actions[name](this.#targets, this.#view.path);
        this.#list.focus();
    }

    #watchButtons() {
        const clicks = {
            "new-folder": () => this.#actions.create(this.#view.path),
            "empty-trash": () => this.#actions.empty(),
            upload: () => byId("files").click(),
            "upload-folder": () => byId("folder").click(),
            open: () => this.#open(this.#targets[0]),
            rename: () => this.#rename(),
            delete: () => this.#delete(),
            download: () => this.#actions.download(this.#targets),
            move: () => this.#act("moveByDialog"),
            copy: () => this.#act("copyByDialog"),
            restore: () => this.#act("restore"),
            unselect: () => this.#clear(),
            keys: showKeys,
            skip: () => this.#list.focus(),
            "show-trash": () => {
                history.pushState(null, "", "#trash");
                this.#go({ kind: "trash", path: "" });
            },
        };
        for (const [id, run] of Object.entries(clicks)) byId(id).addEventListener("click", run);
        byId("crumb-list").addEventListener("click", (event) => {
            const link = event.target.closest("a");
            if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            this.#visit(link.dataset.path).then(() => this.#list.focus());
        });
        watchKeys({
            undo: () => this.#mayWrite && this.#actions.undo(),
            help: showKeys,
            escape: () => this.#clear(),
            up: () => this.#up(),
            take: (kind) => this.#intake.take(kind),
            paste: () => this.#intake.paste(),
            upload: (files) => this.#intake.paste(files),
        });
    }

    #clear() {
        const hadFocus = byId("selection").contains(document.activeElement);
        this.#list.clear();
        if (hadFocus) this.#list.focus();
    }

    // Search and language

    #watchFields() {
        const field = byId("search");
        field.addEventListener("input", () => this.#soon("search", typingPause, () => this.#search()));
        field.addEventListener("keydown", (event) => {
            if (event.key === "ArrowDown") this.#list.focus();
            else if (event.key === "Escape" && field.value !== "") field.value = "";
            else return;
            event.preventDefault();
            if (event.key === "Escape") this.#search();
        });
        byId("search-form").addEventListener("submit", (event) => {
            event.preventDefault();
            this.#soon("search", 0, () => this.#search());
        });
        const select = byId("language");
        const option = ({ tag, name }) => make("option", { value: tag, lang: tag, text: name });
        select.append(...languages.map(option));
        select.value = language();
        select.addEventListener("change", () => {
            choose(select.value);
            translate();
            this.#list.redraw();
            this.#intake.redraw();
            this.#frame();
        });
    }

    #search() {
        const text = byId("search").value.trim();
        const { kind, path } = this.#view;
        if (text !== "") this.#view = { kind: "search", path, text };
        else if (kind === "search") this.#view = { kind: "folder", path };
        else return;
        this.#load(true);
    }
}

new App().start();
