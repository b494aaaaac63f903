// SPDX-License-Identifier: Apache-2.0
// What is done to entries: each action tells its result and, where it can be taken back, how.

import { api } from "./api.js";
import { askClash, askName, confirm, faultOf } from "./dialogs.js";
import { make } from "./dom.js";
import { complain, toast } from "./notices.js";
import { isWithin, join, nameOf, parentOf } from "./paths.js";
import { pickFolder, placeName } from "./picker.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const mostUndone = 50;
/** Servers and proxies take no longer heads than some KiB. */
const longestAddress = 4096;

export class Actions {
    #undos = [];
    #begin;

    /** `begin()` gives what ends an action: `reload(paths)` shows the folder again and selects what has these paths. */
    constructor(begin) {
        this.#begin = begin;
    }

    /** Runs an action; what it fails of is shown, and the folder as it is then. */
    async #do(action) {
        const reload = this.#begin();
        try {
            return await action(reload);
        } catch (error) {
            complain(error);
            reload();
            return null;
        }
    }

    /** Tells a result that can be taken back, by the toast or by the key. */
    #tell(text, undo) {
        const entry = { undo };
        this.#undos = [...this.#undos, entry].slice(-mostUndone);
        entry.close = toast(text, { action: t("undo"), run: () => this.#take(entry) });
    }

    undo() {
        const entry = this.#undos.at(-1);
        if (!entry) return toast(t("nothingToUndo"));
        entry.close();
        this.#take(entry);
    }

    async #take(entry) {
        this.#undos = this.#undos.filter((one) => one !== entry);
        await this.#do(async (reload) => {
            const paths = await entry.undo();
            toast(t("undone"));
            await reload(paths);
        });
    }

    create(folder) {
        return this.#do(async (reload) => {
            const name = await askName(t("newFolder"), { yes: t("create"), fault: faultOf });
            if (name === null) return;
            const path = join(folder, name);
            await api.create(path);
            await reload([path]);
            this.#tell(t("created", { name }), () => api.delete([path]).then(() => []));
        });
    }

    rename({ path, name: old }, name) {
        return this.#do(async (reload) => {
            const {
                changed: [change],
            } = await api.rename(path, name);
            await reload([change.path]);
            const back = async () => (await api.rename(change.path, old)).changed.map((one) => one.path);
            this.#tell(t("renamed", { old, name: nameOf(change.path) }), back);
        });
    }

    /** Into the trash, out of which an undo brings them back. A full disk may have no room for that. */
    delete(entries) {
        return this.#do(async (reload) => {
            const paths = entries.map(({ path }) => path);
            const { trashed } = await api.delete(paths).catch((error) => {
                if (error.status !== 507) throw error;
                return { trashed: null };
            });
            await reload();
            if (!trashed) return this.#deleteForever(paths);
            const back = async () => {
                const { restored } = await api.restore(trashed.map(({ id }) => id));
                return restored.map(({ path }) => path);
            };
            const [{ name }] = entries;
            const count = trashed.length;
            this.#tell(count === 1 ? t("deletedOne", { name }) : t("deleted", { count }), back);
        });
    }

    async #deleteForever(paths) {
        if (!(await confirm(t("delete"), t("fullQuestion"), t("delete")))) return;
        await this.#do(async (reload) => {
            for (const path of paths) {
                // Those before the one that failed are in the trash.
                await api.deleteForever([path]).catch((error) => {
                    if (error.status !== 404) throw error;
                });
            }
            await reload();
            toast(t("deletedForever"));
        });
    }

    restore(items) {
        return this.#do(async (reload) => {
            const { restored } = await api.restore(items.map(({ id }) => id));
            await reload();
            toast(t("restored", { count: restored.length }));
        });
    }

    async empty() {
        if (!(await confirm(t("emptyTrash"), t("emptyQuestion"), t("emptyTrash")))) return;
        await this.#do(async (reload) => {
            await api.empty();
            await reload();
            toast(t("emptied"));
        });
    }

    async moveByDialog(entries, folder) {
        const barred = entries.filter(({ kind }) => kind === "folder").map(({ path }) => path);
        const title = t("moveTitle", { count: entries.length });
        const to = await pickFolder(title, { path: folder, barred, yes: t("moveHere") });
        if (to !== null)
            await this.move(
                entries.map(({ path }) => path),
                to,
            );
    }

    async copyByDialog(entries, folder) {
        const title = t("copyTitle", { count: entries.length });
        const to = await pickFolder(title, { path: folder, yes: t("copyHere") });
        if (to !== null)
            await this.copy(
                entries.map(({ path }) => path),
                to,
            );
    }

    move(paths, to) {
        return this.#do(async (reload) => {
            const moving = paths.filter((path) => parentOf(path) !== to && !isWithin(to, path));
            const changed = await this.#placed(api.move, moving, to);
            if (changed.length === 0) return;
            await reload(changed.map(({ path }) => path));
            const text = t("moved", { count: changed.length, folder: placeName(to) });
            this.#tell(text, () => this.#moveBack(changed));
        });
    }

    copy(paths, to) {
        return this.#do(async (reload) => {
            const changed = await this.#placed(api.copy, paths, to);
            if (changed.length === 0) return;
            const copies = changed.map(({ path }) => path);
            await reload(copies);
            this.#tell(t("copied", { count: changed.length, folder: placeName(to) }), () =>
                api.delete(copies).then(() => []),
            );
        });
    }

    /** Each to where it was, under the name that it had. */
    async #moveBack(changed) {
        const paths = [];
        for (const { from, path } of changed) {
            const {
                changed: [back],
            } = await api.move([path], parentOf(from), "refuse");
            const isSame = nameOf(back.path) === nameOf(from);
            paths.push(isSame ? back.path : (await api.rename(back.path, nameOf(from))).changed[0].path);
        }
        return paths;
    }

    /** Puts entries into a folder. Names that are taken there are asked about before anything is done. */
    async #placed(call, paths, to) {
        if (paths.length === 0) return [];
        const { entries } = await api.list(to);
        const taken = new Set(entries.map(({ name }) => name));
        const isTaken = (path) => taken.has(nameOf(path)) && parentOf(path) !== to;
        const groups = { refuse: [], replace: [], number: [], skip: [] };
        for (const path of paths) {
            if (!isTaken(path)) groups[parentOf(path) === to ? "number" : "refuse"].push(path);
        }
        const clashes = paths.filter(isTaken);
        for (let rest = clashes; rest.length > 0; ) {
            const answer = await askClash(nameOf(rest[0]), to, { count: rest.length });
            if (answer === null) return [];
            groups[answer.choice].push(...(answer.isForAll ? rest : rest.slice(0, 1)));
            rest = answer.isForAll ? [] : rest.slice(1);
        }
        const changed = [];
        for (const clash of ["refuse", "replace", "number"]) {
            if (groups[clash].length > 0) changed.push(...(await call(groups[clash], to, clash)).changed);
        }
        return changed;
    }

    /** One file as it is; several, and folders, as a zip. */
    download(entries) {
        const paths = entries.map(({ path }) => path);
        const isFile = entries.length === 1 && entries[0].kind === "file";
        const href = isFile ? address("download", { path: paths[0] }) : address("zip", { path: paths });
        if (href.length > longestAddress) return this.#downloadByForm(paths);
        const link = make("a", { href, download: "", hidden: true });
        document.body.append(link);
        link.click();
        link.remove();
    }

    /** More than an address can name; in a frame, since the page has not to be left for it. */
    #downloadByForm(paths) {
        const frame =
            document.querySelector("iframe[name=zip]") ??
            make("iframe", { name: "zip", hidden: true, title: t("download") });
        const field = make("input", { type: "hidden", name: "paths", value: paths.join("\n") });
        const form = make("form", { method: "post", action: address("zip"), target: "zip", hidden: true }, field);
        document.body.append(frame, form);
        form.submit();
        form.remove();
    }
}
