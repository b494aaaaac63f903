// SPDX-License-Identifier: Apache-2.0
// The order of the entries, and the heads of the columns that choose it.

import { byId, keep, recall } from "./dom.js";
import { locale } from "./texts.js";

const columns = ["name", "size", "date"];

export class Order {
    #column;
    #isDown;

    /** `onchange` is called when the viewer chooses another order. */
    constructor(onchange) {
        const { column, isDown } = recall("order", {});
        this.#column = columns.includes(column) ? column : "name";
        this.#isDown = isDown === true;
        /** @type {NodeListOf<HTMLElement>} */
        const heads = document.querySelectorAll("[data-sort]");
        for (const node of heads) {
            node.addEventListener("click", () => {
                this.#choose(node.dataset.sort);
                onchange();
            });
        }
        this.#show();
    }

    /** Names begin with the first of them, sizes and dates with the largest. */
    #choose(column) {
        this.#isDown = column === this.#column ? !this.#isDown : column !== "name";
        this.#column = column;
        keep("order", { column, isDown: this.#isDown });
        this.#show();
    }

    #show() {
        for (const column of columns) {
            const value = column !== this.#column ? "none" : this.#isDown ? "descending" : "ascending";
            byId(`column-${column}`).setAttribute("aria-sort", value);
        }
    }

    /** The entries in order: folders before files, those that are equal by name. */
    sorted(entries) {
        const names = new Intl.Collator(locale(), { numeric: true }).compare;
        const values = { name: () => 0, size: ({ size }) => size ?? 0, date: ({ modified }) => modified };
        const value = values[this.#column];
        const sign = this.#isDown ? -1 : 1;
        const isFile = ({ kind }) => (kind === "folder" ? 0 : 1);
        return [...entries].sort(
            (one, other) =>
                isFile(one) - isFile(other) ||
                sign * (value(one) - value(other)) ||
                (this.#column === "name" ? sign : 1) * names(one.name, other.name),
        );
    }
}
