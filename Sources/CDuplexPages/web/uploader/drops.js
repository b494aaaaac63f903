// SPDX-License-Identifier: Apache-2.0
// Files that come by drop and by paste, with the folders that are dropped.

import { byId } from "./dom.js";
import { t } from "./texts.js";

const isFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files") ?? false;

/** All entries of a folder: the browser gives them a hundred at a time. */
async function childrenOf(folder) {
    const reader = folder.createReader();
    const children = [];
    for (;;) {
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0) return children;
        children.push(...some);
    }
}

/** The files below an entry with their names from there, and the folders that are empty. */
async function collect(entry, into, name = entry.name) {
    if (entry.isFile) {
        into.files.push({ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), name });
        return;
    }
    const children = await childrenOf(entry);
    if (children.length === 0) into.folders.push(name);
    for (const child of children) await collect(child, into, `${name}/${child.name}`);
}

/**
 * What was dropped. The list of items is emptied as soon as the event is over, so it is read before any
 * waiting.
 */
export async function dropped({ items, files }) {
    const entries = [...items].filter(({ kind }) => kind === "file").map((item) => item.webkitGetAsEntry?.());
    const found = { files: [], folders: [] };
    if (entries.length === 0 || entries.some((entry) => !entry)) {
        found.files = [...files].map((file) => ({ file, name: file.name }));
        return found;
    }
    for (const entry of entries) await collect(entry, found);
    return found;
}

/** The files of a field; those of a chosen folder with their path. */
export const chosen = ({ files }) => [...files].map((file) => ({ file, name: file.webkitRelativePath || file.name }));

/** What was pasted: a picture without a name of its own gets the moment's. */
export function pasted(files) {
    const now = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString();
    const moment = now.slice(0, 19).replace("T", " ").replaceAll(":", ".");
    return [...files].map((file) => {
        const name = file.name === "image.png" ? `${t("pasted")} ${moment}.png` : file.name;
        return { file, name };
    });
}

/**
 * Shows where a drop goes while files are dragged over the page, and reports the drop: its data and its
 * element.
 */
export function watchDrops({ mayDrop, targetOf, drop }) {
    let marked = null;
    const mark = (node) => {
        if (node === marked) return;
        marked?.classList.remove("target");
        node?.classList.add("target");
        marked = node;
    };
    const over = (event) => {
        if (!isFiles(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = mayDrop() ? "copy" : "none";
        if (!mayDrop()) return;
        const { node, text } = targetOf(event.target);
        mark(node);
        byId("drop").hidden = false;
        byId("drop").classList.toggle("aside", node !== null);
        byId("drop-text").textContent = text;
    };
    const end = () => {
        mark(null);
        byId("drop").hidden = true;
    };
    addEventListener("dragenter", over);
    addEventListener("dragover", over);
    addEventListener("dragleave", (event) => {
        if (event.relatedTarget === null) end();
    });
    addEventListener("drop", (event) => {
        end();
        if (!isFiles(event)) return;
        event.preventDefault();
        if (mayDrop()) drop(event.dataTransfer, targetOf(event.target).path);
    });
}
