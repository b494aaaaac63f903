// SPDX-License-Identifier: Apache-2.0
// The keys that hold on the whole page, and those of the list that act on entries.

import { byId } from "./dom.js";

const isField = (node) => node.matches?.("input:not([type=checkbox]), textarea, select, dialog *") ?? false;

/** `does` has an action for each key's meaning; an action returns false where it doesn't apply. */
export function watchKeys(does) {
    addEventListener("keydown", (event) => {
        if (event.defaultPrevented || event.isComposing || isField(event.target)) return;
        const isCommand = event.ctrlKey || event.metaKey;
        if (isCommand && !event.shiftKey && event.key.toLowerCase() === "z") does.undo();
        else if (event.key === "/" && !isCommand && !event.altKey) byId("search").select();
        else if (event.key === "?" && !isCommand) does.help();
        else if (event.key === "Escape") does.escape();
        else if (event.key === "Backspace" || (event.key === "ArrowUp" && event.altKey)) does.up();
        else return;
        event.preventDefault();
    });
    for (const kind of ["copy", "cut"]) {
        document.addEventListener(kind, (/** @type {ClipboardEvent} */ event) => {
            if (isField(event.target) || !getSelection().isCollapsed) return;
            const names = does.take(kind);
            if (names === null) return;
            event.clipboardData.setData("text/plain", names.join("\n"));
            event.preventDefault();
        });
    }
    document.addEventListener("paste", (event) => {
        if (isField(event.target)) return;
        const { files } = event.clipboardData;
        if (files.length > 0) does.upload(files);
        else does.paste();
        event.preventDefault();
    });
}

/** The action of a key that is pressed in the list, or undefined. */
export function actionOf({ key, ctrlKey, metaKey, altKey }) {
    return ctrlKey || metaKey || altKey ? undefined : { F2: "rename", Delete: "delete" }[key];
}
