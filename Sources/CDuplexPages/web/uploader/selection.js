// SPDX-License-Identifier: Apache-2.0
// Which entries are chosen, by their keys. It knows of no elements.

export class Selection {
    keys = new Set();
    #anchor = null;

    get size() {
        return this.keys.size;
    }

    has(key) {
        return this.keys.has(key);
    }

    clear() {
        this.keys.clear();
    }

    only(key) {
        this.keys = new Set([key]);
        this.#anchor = key;
    }

    toggle(key) {
        if (!this.keys.delete(key)) this.keys.add(key);
        this.#anchor = key;
    }

    /** All from where the last choice was made up to a key, in the order shown. */
    extend(key, order) {
        const from = order.indexOf(this.#anchor);
        const to = order.indexOf(key);
        if (from < 0) return this.only(key);
        this.keys = new Set(order.slice(Math.min(from, to), Math.max(from, to) + 1));
    }

    all(order) {
        this.keys = new Set(order);
    }

    /** Begins a range at a key without choosing it. */
    anchor(key) {
        this.#anchor ??= key;
    }

    /** Forgets what is there no more. */
    keepOnly(order) {
        const present = new Set(order);
        this.keys = new Set([...this.keys].filter((key) => present.has(key)));
        if (!present.has(this.#anchor)) this.#anchor = null;
    }
}
