// SPDX-License-Identifier: Apache-2.0
// All uploads of the page: three at a time, each of which can be paused, gone on with, tried again and
// cancelled.

import { askClash } from "./dialogs.js";
import { nameOf, parentOf } from "./paths.js";
import * as resumes from "./resumes.js";
import { Problem } from "./server.js";
import { TusUpload } from "./tus.js";

const { piece, parallel } = document.documentElement.dataset;
const pieceSize = Number(piece) || 8 << 20;
const atOnce = Number(parallel) || 3;
const paused = new DOMException("paused", "AbortError");

/** The files that were given together: a choice about clashing names can hold for all of them. */
class Batch {
    choice = null;
    #question = null;

    constructor(count) {
        this.count = count;
    }

    /**
     * What to do about a clash; one is asked about at a time, and the others wait for whether it holds for all.
     */
    async ask(name, folder) {
        while (this.#question) await this.#question;
        if (this.choice) return this.choice;
        this.#question = askClash(name, folder, { count: this.count });
        const answer = await this.#question;
        this.#question = null;
        if (answer?.isForAll) this.choice = answer.choice;
        return answer?.choice ?? "skip";
    }
}

class Upload {
    file;
    folder;
    name;
    state = "waiting";
    sent = 0;
    error = "";
    path = "";
    #clash = "refuse";
    #tus = null;
    #control = null;
    #batch;
    #changed;

    constructor(file, folder, name, batch, changed) {
        Object.assign(this, { file, folder, name });
        this.#batch = batch;
        this.#changed = changed;
        this.print = resumes.printOf(file, folder, name);
    }

    get size() {
        return this.file.size;
    }

    get isOver() {
        return ["done", "failed", "skipped", "cancelled"].includes(this.state);
    }

    get isRunning() {
        return this.state === "running" || this.state === "retrying" || this.state === "asking";
    }

    #become(state) {
        this.state = state;
        this.#changed(this);
    }

    async run() {
        this.#control = new AbortController();
        this.#become("running");
        this.error = "";
        try {
            await this.#send();
            resumes.forget(this.print);
            this.sent = this.size;
            this.#become("done");
        } catch (error) {
            this.#ended(error);
        }
    }

    #ended(error) {
        if (error === paused || this.state === "cancelled") return;
        if (error === null) return this.#become("skipped");
        this.error = error.message;
        if (!(error instanceof Problem)) this.error = String(error.message ?? error);
        this.#become("failed");
    }

    /**
     * A name that is taken, before or meanwhile, is asked about, and the upload begun anew with the choice.
     * Null is thrown to skip.
     */
    async #send() {
        for (;;) {
            try {
                this.#tus ??= this.#begin();
                this.path = (await this.#tus.run(this.#control.signal)) || this.path;
                return;
            } catch (error) {
                if (this.#tus.url === null || error.status === 409) this.#drop();
                if (error.status !== 409 || this.#clash !== "refuse") throw error;
                await this.#chooseClash();
            }
        }
    }

    /** Forgets what the server has of it. */
    #drop() {
        this.#tus?.cancel().catch(() => {});
        this.#tus = null;
        resumes.forget(this.print);
    }

    async #chooseClash() {
        this.sent = 0;
        this.#become("asking");
        const choice = await this.#batch.ask(nameOf(this.name), this.#target);
        if (choice === "skip") throw null;
        this.#clash = choice;
        if (this.#control.signal.aborted) throw this.#control.signal.reason;
        this.#become("running");
    }

    get #target() {
        return [this.folder, parentOf(this.name)].filter((part) => part !== "").join("/");
    }

    #begin() {
        const known = resumes.find(this.print);
        const { folder, name } = this;
        this.path = [folder, name].filter((part) => part !== "").join("/");
        return new TusUpload(
            this.file,
            { path: folder, name, clash: this.#clash },
            {
                piece: pieceSize,
                url: known?.url ?? null,
                hears: {
                    began: (url) => this.#note(url),
                    sent: (count) => this.#noteSent(count),
                    waits: () => this.#become("retrying"),
                },
            },
        );
    }

    #noteSent(count) {
        const pieces = Math.floor(count / pieceSize) !== Math.floor(this.sent / pieceSize);
        this.sent = count;
        if (pieces && this.#tus?.url) this.#note(this.#tus.url);
        if (this.state === "retrying") this.#become("running");
        else this.#changed(this);
    }

    #note(url) {
        const { print, folder, name, size, sent } = this;
        resumes.note({ print, url, folder, name, size, sent, modified: this.file.lastModified });
    }

    pause() {
        if (this.isOver) return;
        this.#become("paused");
        this.#control?.abort(paused);
    }

    again() {
        if (["paused", "failed", "skipped"].includes(this.state)) this.#become("waiting");
    }

    cancel() {
        this.#become("cancelled");
        this.#control?.abort(paused);
        this.#drop();
    }
}

export class Uploads {
    all = [];
    #hears;

    /** `hears` has `changed()`, and `done(upload)` for each that is whole. */
    constructor(hears) {
        this.#hears = hears;
        addEventListener("beforeunload", (event) => {
            if (this.active.length > 0) event.preventDefault();
        });
    }

    get active() {
        return this.all.filter(({ isOver, state }) => !isOver && state !== "paused");
    }

    get open() {
        return this.all.filter(({ isOver }) => !isOver);
    }

    /** Adds files, each `{ file, name }` with a name that may hold folders, to be put into a folder. */
    add(files, folder) {
        if (this.open.length === 0) this.all = this.all.filter(({ state }) => state === "failed");
        const batch = new Batch(files.length);
        const known = new Set(this.open.map(({ print }) => print));
        const changed = (one) => this.#changed(one);
        const fresh = files
            .map(({ file, name }) => new Upload(file, folder, name, batch, changed))
            .filter(({ print }) => !known.has(print));
        this.all.push(...fresh);
        this.#fill();
    }

    pauseAll() {
        for (const upload of this.open) upload.pause();
    }

    resumeAll() {
        for (const upload of this.open) upload.again();
    }

    cancelAll() {
        for (const upload of this.open) upload.cancel();
    }

    clear() {
        this.all = this.open;
        this.#hears.changed();
    }

    #changed(upload) {
        if (upload.state === "done") this.#hears.done(upload);
        this.#hears.changed();
        if (!upload.isRunning) queueMicrotask(() => this.#fill());
    }

    /** An upload that waits for an answer keeps no place: the others go on. */
    #fill() {
        let free = atOnce - this.all.filter(({ state }) => state === "running" || state === "retrying").length;
        for (const upload of this.all) {
            if (free <= 0) break;
            if (upload.state !== "waiting") continue;
            upload.run();
            free -= 1;
        }
        this.#hears.changed();
    }
}
