// SPDX-License-Identifier: Apache-2.0
// What comes into the folder shown: chosen, dropped and pasted files, and entries that are dragged or pasted.

import { api } from "./api.js";
import { byId } from "./dom.js";
import { watchDrags } from "./drag.js";
import { chosen, dropped, pasted, watchDrops } from "./drops.js";
import { complain, toast } from "./notices.js";
import { join, nameOf } from "./paths.js";
import { placeName } from "./picker.js";
import { t } from "./texts.js";
import { Uploads } from "./uploads.js";
import { UploadsPanel } from "./uploads-panel.js";

export class Intake {
    #app;
    #clipboard = null;
    #uploads;
    #panel;

    /** `app` has `list`, `actions`, `view()`, `mayChange()`, `targets()` and `changed()`. */
    constructor(app) {
        this.#app = app;
        this.#uploads = new Uploads({ changed: () => this.#panel?.changed(), done: () => app.changed() });
        this.#panel = new UploadsPanel(this.#uploads, (record, file) => this.#goOn(record, file));
        for (const id of ["files", "folder"]) {
            byId(id).addEventListener("change", ({ target }) => {
                this.#uploads.add(chosen(target), this.#folder);
                target.value = "";
            });
        }
        watchDrops({
            mayDrop: () => app.mayChange(),
            targetOf: (node) => this.#dropTarget(node),
            drop: (data, folder) => this.#drop(data, folder),
        });
        watchDrags({
            chosen: (key) => this.#dragged(key),
            target: (node) => this.#folderAt(node),
            drop: (paths, folder, isCopy) => app.actions[isCopy ? "copy" : "move"](paths, folder),
        });
    }

    get #folder() {
        return this.#app.view().path;
    }

    redraw() {
        this.#panel.redraw();
    }

    /** Remembers what is selected for a paste; returns its names, or null where nothing can be taken. */
    take(kind) {
        const targets = this.#app.targets();
        if (!this.#app.mayChange() || targets.length === 0) return null;
        this.#clipboard = { isMove: kind === "cut", paths: targets.map(({ path }) => path) };
        toast(t(kind === "cut" ? "cutOut" : "copiedOut", { count: targets.length }));
        return targets.map(({ path }) => nameOf(path));
    }

    /** Uploads files of the clipboard, or puts what was taken here. */
    async paste(files = null) {
        if (!this.#app.mayChange()) return;
        if (files) return this.#uploads.add(pasted(files), this.#folder);
        if (!this.#clipboard) return;
        const { isMove, paths } = this.#clipboard;
        if (isMove) this.#clipboard = null;
        await this.#app.actions[isMove ? "move" : "copy"](paths, this.#folder);
    }

    /** The folder that an element stands for: a row of one, or a part of the path. */
    #folderAt(node) {
        if (!this.#app.mayChange()) return null;
        const row = node.closest?.(".row.folder");
        if (row) return { node: row, path: this.#app.list.entry(row.dataset.key).path };
        const link = node.closest?.("#crumb-list a");
        return link ? { node: link, path: link.dataset.path } : null;
    }

    #dropTarget(node) {
        const { node: marked = null, path = this.#folder } = this.#folderAt(node) ?? {};
        return { node: marked, path, text: t("dropHere", { folder: placeName(path) }) };
    }

    async #drop(data, folder) {
        try {
            const { files, folders } = await dropped(data);
            for (const name of folders) await this.#makeFolders(folder, name);
            this.#uploads.add(files, folder);
        } catch (error) {
            complain(error);
        }
    }

    /** A folder without files comes by no upload: it is made, with those above it, unless it is there. */
    async #makeFolders(folder, name) {
        let path = folder;
        for (const part of name.split("/")) {
            path = join(path, part);
            await api.create(path).catch((error) => {
                if (error.status !== 409) throw error;
            });
        }
        this.#app.changed();
    }

    #dragged(key) {
        const { list } = this.#app;
        if (!this.#app.mayChange()) return [];
        return list.selection.has(key) ? list.chosen.map(({ path }) => path) : [list.entry(key).path];
    }

    #goOn(record, file) {
        const name = nameOf(record.name);
        const isSame = file.size === record.size && file.lastModified === record.modified && file.name === name;
        if (!isSame) return complain(new Error(t("otherFile", { name })));
        this.#uploads.add([{ file, name: record.name }], record.folder);
    }
}
