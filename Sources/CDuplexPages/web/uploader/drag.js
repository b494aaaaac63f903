// SPDX-License-Identifier: Apache-2.0
// Rows that are dragged onto folders, those of the list and those of the path: moved, or copied with Ctrl.

import { byId } from "./dom.js";

const format = "application/x-duplex-paths";

/**
 * `chosen(key)` are the paths to drag, `target(node)` the folder at an element, and `drop(paths, folder,
 * isCopy)`.
 */
export function watchDrags({ chosen, target, drop }) {
    let dragged = [];
    let marked = null;
    const mark = (node) => {
        marked?.classList.remove("target");
        marked = node;
        marked?.classList.add("target");
    };
    const place = ({ target: node, dataTransfer }) => {
        if (!dataTransfer.types.includes(format)) return null;
        const found = target(node);
        return found && !dragged.includes(found.path) ? found : null;
    };
    byId("rows").addEventListener("dragstart", (event) => {
        const row = event.target.closest?.(".row");
        dragged = row ? chosen(row.dataset.key) : [];
        if (dragged.length === 0) return event.preventDefault();
        event.dataTransfer.setData(format, JSON.stringify(dragged));
        event.dataTransfer.effectAllowed = "copyMove";
    });
    addEventListener("dragover", (event) => {
        const found = place(event);
        if (found?.node !== marked) mark(found?.node ?? null);
        if (!found) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = event.ctrlKey ? "copy" : "move";
    });
    addEventListener("drop", (event) => {
        const found = place(event);
        if (!found) return;
        event.preventDefault();
        drop(dragged, found.path, event.ctrlKey);
    });
    addEventListener("dragend", () => {
        mark(null);
        dragged = [];
    });
}
