// SPDX-License-Identifier: Apache-2.0
// Values of databases: short in a grid, as a whole in a dialog.

import { get } from "./api.js";
import { make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { bytes } from "./format.js";
import { button } from "./icons.js";
import { say } from "./notices.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const short = 80;

/** A cell of a grid; what isn't shown as a whole is a button that opens it. */
export function cellOf(cell, name, open) {
    if (cell === null) return make("td", { class: "null", text: t("null") });
    const { kind, text, size } = cell;
    if (kind === "integer" || kind === "real") return foreign("td", text, { class: "number" });
    if (kind === "text" && size === undefined && text.length <= short && !/[\r\n]/u.test(text)) {
        return foreign("td", text, { class: "text-cell" });
    }
    const line = visible(text.slice(0, short)).replaceAll(/[\r\n]+/gu, "⏎");
    const label = kind === "blob" ? t("blob", { size: bytes(size) }) : `${line}…`;
    return make(
        "td",
        { class: kind === "blob" ? "blob" : "text-cell" },
        foreign("button", label, {
            type: "button",
            class: "whole",
            title: visible(t("openCell", { name })),
            onclick: open,
        }),
    );
}

/** The value that a query names, in a dialog. */
export async function showCell(query, title) {
    let answer;
    try {
        answer = await get("databases/cell", query);
    } catch (error) {
        return say(error.message, "danger");
    }
    const { cell, image, shown } = answer;
    const dialog = make("dialog", { class: "cell-dialog", "aria-label": visible(title) });
    const facts =
        cell === null
            ? t("null")
            : cell.kind === "blob"
              ? t(shown < cell.size ? "blobBeginning" : "blobSize", { count: cell.size, shown })
              : cell.size === undefined
                ? cell.kind
                : t("textBeginning", { count: cell.size });
    dialog.append(
        make(
            "div",
            { class: "tools" },
            foreign("h3", title, { class: "grow" }),
            button("copy", { label: t("copy"), onclick: () => copy(cell?.text ?? "") }),
            make("a", { class: "button", href: address("databases/value", query), download: "", text: t("download") }),
            button("close", { label: t("close"), onclick: () => dialog.close() }),
        ),
        make("p", { class: "cell-facts", text: facts }),
    );
    if (image) {
        const source = address("databases/value", { ...query, as: "image" });
        dialog.append(make("img", { class: "cell-image", src: source, alt: t("picture", { type: image }) }));
    }
    const text = cell === null ? t("null") : cell.kind === "blob" ? dump(cell.text) : cell.text;
    const isBytes = cell?.kind === "blob";
    dialog.append(
        foreign("pre", text, {
            class: isBytes ? "text cell-text cell-dump" : "text cell-text",
            tabindex: "0",
            dir: isBytes ? "ltr" : "auto",
        }),
    );
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        say(t("copied"));
    } catch {
        say(t("notCopied"), "danger");
    }
}

/** Lines of 16 bytes: where they are, in hexadecimal, and as ASCII. */
function dump(digits) {
    const lines = [];
    for (let at = 0; at < digits.length; at += 32) {
        const pairs = digits.slice(at, at + 32).match(/../gu);
        const letters = pairs
            .map((pair) => Number.parseInt(pair, 16))
            .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "."))
            .join("");
        lines.push(`${(at / 2).toString(16).padStart(8, "0")}  ${pairs.join(" ").padEnd(47)}  ${letters}`);
    }
    return lines.join("\n");
}
