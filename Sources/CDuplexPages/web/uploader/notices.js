// SPDX-License-Identifier: Apache-2.0
// What the page says without being asked: toasts, the live region of screen readers, and whether the server is
// there.

import { byId, make } from "./dom.js";
import { button, icon } from "./icons.js";
import { t } from "./texts.js";

const lasting = 10_000;
const limit = 4;

/** Tells screen readers of a result that others see. */
export function announce(text) {
    byId("live").textContent = text;
}

/** Shows what went wrong; it stays until it is closed. */
export function complain(error) {
    if (error.name === "AbortError") return;
    toast(error.message, { isError: true });
}

/**
 * Shows a result for some seconds, with an action such as "Undo"; they stand still while they are pointed at.
 *
 * @param {string} text
 * @param {{ isError?: boolean, action?: string, run?: () => void }} options
 */
export function toast(text, { isError = false, action, run } = {}) {
    const box = make("div", { class: isError ? "toast error" : "toast" });
    const close = () => {
        clearTimeout(box.timer);
        box.remove();
    };
    box.append(icon(isError ? "warning" : "done"), make("p", { role: isError ? "alert" : "status", text }));
    const act = () => {
        close();
        run();
    };
    if (action) box.append(make("button", { type: "button", class: "undo", text: action, onclick: act }));
    box.append(button("close", { label: t("close"), class: "quiet", onclick: close }));
    if (!isError) {
        const stop = () => clearTimeout(box.timer);
        const start = () => {
            stop();
            box.timer = setTimeout(close, lasting);
        };
        for (const event of ["pointerenter", "focusin"]) box.addEventListener(event, stop);
        for (const event of ["pointerleave", "focusout"]) box.addEventListener(event, start);
        start();
    }
    const boxes = byId("toasts");
    boxes.append(box);
    if (boxes.childElementCount > limit) boxes.firstElementChild.remove();
    return close;
}

/** Shows that the server can't be reached, or that it can again. */
export function showConnection(isThere) {
    const bar = byId("offline");
    if (bar.hidden === isThere) return;
    bar.hidden = isThere;
    bar.textContent = isThere ? "" : t("offline");
    if (isThere) announce(t("online"));
}
