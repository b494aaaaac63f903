// SPDX-License-Identifier: Apache-2.0
// Uploads that can be gone on with after the page was loaded again, as `localStorage` keeps them.

import { keep, recall } from "./dom.js";
import { address } from "./server.js";

const longest = 100;
const oldest = 7 * 24 * 3600 * 1000;
const silence = 30_000;

// A tab keeps its number over a reload, so that it knows which of the uploads were its own.
const tab = (() => {
    try {
        sessionStorage.duplexTab ??= `${Date.now()}-${Math.random()}`;
        return sessionStorage.duplexTab;
    } catch {
        return "";
    }
})();

/** What tells a file from others without reading it. */
export const printOf = (file, folder, name) =>
    JSON.stringify([address("uploads"), folder, name, file.size, file.lastModified]);

const all = () => recall("uploads", []).filter(({ at }) => Date.now() - at < oldest);

export const find = (print) => all().find((one) => one.print === print);

export function forget(print) {
    keep(
        "uploads",
        all().filter((one) => one.print !== print),
    );
}

/** Keeps or renews the record of an upload: `{ print, url, folder, name, size, modified, sent }`. */
export function note(record) {
    const others = all().filter(({ print }) => print !== record.print);
    keep("uploads", [...others, { ...record, tab, at: Date.now() }].slice(-longest));
}

/**
 * Uploads of this server that nobody is at: our own of before the page was loaded, and others' that are silent.
 */
export function unfinished() {
    const ours = address("uploads");
    return all().filter(
        ({ url, tab: owner, at }) => url.startsWith(ours) && (owner === tab || Date.now() - at > silence),
    );
}
