// SPDX-License-Identifier: Apache-2.0
// Questions. One is open at a time; each is answered by a promise: the choice, or null where it was given up.

import { make } from "./dom.js";
import { button } from "./icons.js";
import { t } from "./texts.js";

let last = Promise.resolve();

/**
 * Opens a dialog that `build` fills, once those before it are closed. `build` gets the dialog and how to end
 * it.
 */
export function show(title, build, { name = "" } = {}) {
    const shown = last.then(
        () =>
            new Promise((resolve) => {
                const heading = make("h2", { text: title, id: "dialog-title" });
                const dialog = make("dialog", { "aria-labelledby": "dialog-title", class: name }, heading);
                let result = null;
                const end = (value) => {
                    result = value;
                    dialog.close();
                };
                dialog.addEventListener("close", () => {
                    dialog.remove();
                    resolve(result);
                });
                dialog.addEventListener("click", (event) => {
                    if (event.target === dialog) end(null);
                });
                build(dialog, end);
                document.body.append(dialog);
                dialog.showModal();
            }),
    );
    last = shown.catch(() => null);
    return shown;
}

const cancel = (end) => make("button", { type: "button", text: t("cancel"), onclick: () => end(null) });

/** Asks for a yes. */
export function confirm(title, text, yes) {
    return show(title, (dialog, end) => {
        const attributes = { type: "button", class: "danger solid", text: yes };
        const agree = make("button", { ...attributes, onclick: () => end(true) });
        dialog.append(make("p", { text }), make("div", { class: "actions" }, cancel(end), agree));
    });
}

/** Asks for a name, checked by `fault`, which says what is wrong with one or returns "". */
export function askName(title, { value = "", yes, fault }) {
    return show(title, (dialog, end) => {
        const field = make("input", {
            type: "text",
            "aria-labelledby": "dialog-title",
            autocomplete: "off",
            spellcheck: "false",
            maxlength: 255,
            "aria-describedby": "dialog-fault",
            autofocus: true,
        });
        field.value = value;
        const wrong = make("p", { class: "fault", id: "dialog-fault", role: "alert" });
        const agree = make("button", { type: "submit", class: "primary", text: yes });
        const actions = make("div", { class: "actions" }, cancel(end), agree);
        const form = make("form", { method: "dialog" }, field, wrong, actions);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            const name = field.value.trim();
            wrong.textContent = fault(name);
            if (wrong.textContent === "") end(name);
        });
        dialog.append(form);
        field.select();
    });
}

/** Why a name can't be one, or "". The server has the last word. */
export function faultOf(name) {
    if (name === "") return t("nameMissing");
    if (name.includes("/")) return t("nameSlash");
    return name.startsWith(".") ? t("nameDot") : "";
}

/**
 * Asks what to do about a name that is taken: `{ choice: "replace" | "number" | "skip", isForAll }`, or null.
 */
export function askClash(name, folder, { count = 1 } = {}) {
    return show(
        t("clashTitle"),
        (dialog, end) => {
            const all = make("input", { type: "checkbox", id: "clash-all" });
            all.checked = count > 1;
            const answer = (choice) => () => end({ choice, isForAll: all.checked });
            const text = t("clash", { name, folder: folder === "" ? t("root") : folder });
            dialog.append(make("p", { text, class: "wrapping" }));
            const label = make("label", { class: "choice" }, all, make("span", { text: t("forAll") }));
            if (count > 1) dialog.append(label);
            dialog.append(
                make(
                    "div",
                    { class: "actions" },
                    make("button", { type: "button", text: t("skip1"), onclick: answer("skip") }),
                    make("button", { type: "button", class: "danger", text: t("replace"), onclick: answer("replace") }),
                    make("button", {
                        type: "button",
                        class: "primary",
                        text: t("keepBoth"),
                        autofocus: true,
                        onclick: answer("number"),
                    }),
                ),
            );
        },
        { name: "clash" },
    );
}

/** Shows what keys do. */
export function showKeys() {
    /** @type {[string, Parameters<typeof t>[0]][]} */
    const rows = [
        ["↑ ↓ Home End", "keyMove"],
        ["Enter", "keyOpen"],
        ["Backspace", "keyUp"],
        ["Space", "keySelect"],
        ["Shift + ↑ ↓", "keyRange"],
        ["Ctrl + A", "keyAll"],
        ["F2", "keyRename"],
        ["Delete", "keyDelete"],
        ["Ctrl + Z", "keyUndo"],
        ["Ctrl + C, X, V", "keyPaste"],
        ["Esc", "keyEscape"],
        ["/", "keySearch"],
    ];
    return show(t("keys"), (dialog, end) => {
        const list = make("dl", { class: "keys" });
        for (const [keys, key] of rows) {
            list.append(make("dt", {}, make("kbd", { text: keys })), make("dd", { text: t(key) }));
        }
        dialog.append(
            list,
            make(
                "div",
                { class: "actions" },
                button("close", { text: t("close"), autofocus: true, onclick: () => end(null) }),
            ),
        );
    });
}
