// SPDX-License-Identifier: Apache-2.0
// The field that takes the place of a name in its row.

import { faultOf } from "./dialogs.js";
import { make } from "./dom.js";
import { complain } from "./notices.js";
import { stemLength } from "./paths.js";
import { t } from "./texts.js";

/** Asks for another name in the row: the name, or null where it stays. */
export function renameIn(row, { name, kind }) {
    const label = row.querySelector(".label");
    const field = make("input", {
        type: "text",
        class: "rename",
        "aria-label": t("renameOne", { name }),
        spellcheck: "false",
        autocomplete: "off",
        maxlength: 255,
    });
    field.value = name;
    row.draggable = false;
    label.replaceWith(field);
    field.focus();
    field.setSelectionRange(0, kind === "folder" ? name.length : stemLength(name));
    return new Promise((resolve) => {
        let isOver = false;
        const end = (value) => {
            if (isOver) return;
            isOver = true;
            field.replaceWith(label);
            row.draggable = true;
            resolve(value);
        };
        const commit = (isFinal) => {
            const value = field.value.trim();
            if (value === name) return end(null);
            const fault = faultOf(value);
            if (fault === "") return end(value);
            if (isFinal) return end(null);
            complain(new Error(fault));
        };
        field.addEventListener("keydown", (event) => {
            if (event.isComposing) return;
            if (event.key === "Enter") commit(false);
            else if (event.key === "Escape") end(null);
            else return;
            event.preventDefault();
            event.stopPropagation();
        });
        field.addEventListener("blur", () => commit(true));
    });
}
