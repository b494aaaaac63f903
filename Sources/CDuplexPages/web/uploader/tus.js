// SPDX-License-Identifier: Apache-2.0
// One upload by tus 1.0.0: created, sent in pieces, and gone on with where the server says that it stopped.

import { server } from "./api.js";
import { address, Problem } from "./server.js";
import { t } from "./texts.js";

const version = "1.0.0";
const longestPause = 30_000;

/** The value of `Upload-Metadata`: each value in Base64 of its UTF-8. */
function metadata(values) {
    return Object.entries(values)
        .map(([key, value]) => {
            const bytes = new TextEncoder().encode(value);
            return `${key} ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
        })
        .join(",");
}

/**
 * Only XMLHttpRequest tells how much of a body has gone.
 *
 * @param {{ headers?: object, body?: any, signal: AbortSignal, onprogress?: (count: number) => void }} options
 * @returns {Promise<XMLHttpRequest>}
 */
function exchange(method, url, options) {
    const { headers = {}, body = null, signal, onprogress } = options;
    return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const request = new XMLHttpRequest();
        request.open(method, url);
        for (const [name, value] of Object.entries({ "tus-resumable": version, ...headers })) {
            request.setRequestHeader(name, value);
        }
        const stop = () => request.abort();
        signal.addEventListener("abort", stop);
        request.upload.onprogress = ({ loaded }) => onprogress?.(loaded);
        request.onerror = () => reject(server.unreachable());
        request.onabort = () => reject(signal.reason);
        request.onload = () => {
            if (request.status < 300) resolve(request);
            else reject(server.problem(request.status, request.responseText));
        };
        request.onloadend = () => signal.removeEventListener("abort", stop);
        request.send(body);
    });
}

/** Waits, but no longer than until the browser has a network again, or the signal comes. */
function pause(duration, signal) {
    return new Promise((resolve, reject) => {
        const end = () => {
            clearTimeout(timer);
            removeEventListener("online", end);
            signal.removeEventListener("abort", end);
            if (signal.aborted) reject(signal.reason);
            else resolve();
        };
        const timer = setTimeout(end, duration);
        addEventListener("online", end);
        signal.addEventListener("abort", end);
    });
}

export class TusUpload {
    #file;
    #values;
    #piece;
    #hears;
    #endedAt = "";
    url;

    /**
     * `values` are the metadata; `url` that of an upload that was begun earlier; `hears` has `sent(count)`,
     * `began(url)` and `waits(error)`.
     */
    constructor(file, values, { piece, url = null, hears }) {
        this.#file = file;
        this.#values = values;
        this.#piece = piece;
        this.#hears = hears;
        this.url = url;
    }

    /**
     * Sends what is missing, through any number of lost connections, until the signal comes. Returns the new
     * path.
     */
    async run(signal) {
        let offset = this.url === null ? null : await this.#retried(() => this.#offset(signal), signal);
        while (offset === null || offset < this.#file.size) {
            offset = await this.#retried(
                () => this.#advance(offset, signal),
                signal,
                async () => {
                    if (this.url !== null) offset = await this.#offset(signal);
                },
            );
        }
        return this.#endedAt;
    }

    /** Tells the server to forget the upload. */
    async cancel() {
        if (this.url !== null) await exchange("DELETE", this.url, { signal: new AbortController().signal });
    }

    #advance(offset, signal) {
        return offset === null ? this.#create(signal) : this.#send(offset, signal);
    }

    /** Runs a step again as long as what it fails of passes; `before` runs before each next time. */
    async #retried(step, signal, before = () => {}) {
        for (let failures = 0, isAgain = false; ; isAgain = true) {
            try {
                if (isAgain) await before();
                return await step();
            } catch (error) {
                if (signal.aborted) throw signal.reason;
                if (!(error instanceof Problem) || !error.isPassing) throw error;
                this.#hears.waits(error);
                await pause(Math.min(500 * 2 ** failures, longestPause), signal);
                failures += 1;
            }
        }
    }

    /** Creates the upload; a file of one piece goes with it. */
    async #create(signal) {
        const headers = { "upload-length": this.#file.size, "upload-metadata": metadata(this.#values) };
        const isWhole = this.#file.size <= this.#piece / 8;
        if (isWhole) headers["content-type"] = "application/offset+octet-stream";
        const answer = await exchange("POST", address("uploads"), {
            headers,
            signal,
            body: isWhole ? this.#file : null,
            onprogress: (count) => this.#hears.sent(count),
        });
        const url = new URL(answer.getResponseHeader("location"), address("uploads"));
        if (url.origin !== location.origin) throw new Problem(502, t("strangeAnswer"));
        this.url = url.href;
        const offset = Number(answer.getResponseHeader("upload-offset") ?? (isWhole ? this.#file.size : 0));
        if (offset < this.#file.size) this.#hears.began(this.url);
        this.#noteEnd(answer);
        return offset;
    }

    /** Asks how much the server has. An upload that it has forgotten begins anew. */
    async #offset(signal) {
        try {
            const answer = await exchange("HEAD", this.url, { signal });
            this.#noteEnd(answer);
            return this.#checked(answer);
        } catch (error) {
            if (![403, 404, 410].includes(error.status)) throw error;
            this.url = null;
            return null;
        }
    }

    async #send(offset, signal) {
        const body = this.#file.slice(offset, offset + this.#piece);
        const headers = { "upload-offset": offset, "content-type": "application/offset+octet-stream" };
        try {
            const answer = await exchange("PATCH", this.url, {
                headers,
                body,
                signal,
                onprogress: (count) => this.#hears.sent(offset + count),
            });
            this.#noteEnd(answer);
            return this.#checked(answer);
        } catch (error) {
            return this.#recovered(error, offset, signal);
        }
    }

    /**
     * After a conflict or a lost upload we ask what the server has. It refuses to say where the upload is whole
     * and its name taken. Where nothing has changed, another request was in the way: ours is made again later.
     */
    async #recovered(error, offset, signal) {
        if (![404, 409, 410].includes(error.status)) throw error;
        const there = await this.#offset(signal);
        if (there === offset) throw new Problem(423, error.message);
        return there;
    }

    #checked(answer) {
        const offset = Number(answer.getResponseHeader("upload-offset"));
        if (!(offset >= 0 && offset <= this.#file.size)) throw new Problem(502, t("strangeAnswer"));
        this.#hears.sent(offset);
        return offset;
    }

    #noteEnd(answer) {
        const path = answer.getResponseHeader("upload-path");
        if (path) this.#endedAt = decodeURIComponent(path);
    }
}
