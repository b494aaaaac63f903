// SPDX-License-Identifier: Apache-2.0
// Elements. Names and other foreign text become text nodes and attribute values, never markup.

/**
 * The element with an id. Which kind it is, the markup says.
 *
 * @returns {any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * Makes an element; `on…` attributes become listeners, `text` its text, and false, null and undefined are left
 * out.
 *
 * @returns {any}
 */
export function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === false || value === null || value === undefined) continue;
        if (name === "text") node.textContent = value;
        else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children);
    return node;
}

/**
 * Gives an element these children. Those that it has in this order already aren't touched: what leaves the
 * document, if only for a moment, loses the focus, and a click of which the button is still down.
 */
export function arrange(parent, nodes) {
    const wanted = new Set(nodes);
    for (const node of [...parent.children]) if (!wanted.has(node)) node.remove();
    let next = parent.firstElementChild;
    for (const node of nodes) {
        if (node === next) next = next.nextElementSibling;
        else parent.insertBefore(node, next);
    }
}

/**
 * What `localStorage` holds under a name, or the default where it holds nothing, nothing that can be read, or
 * is shut.
 */
export function recall(name, otherwise) {
    try {
        return JSON.parse(localStorage.getItem(`duplex.${name}`)) ?? otherwise;
    } catch {
        return otherwise;
    }
}

/** Keeps a value in `localStorage`, where that is open and has room. */
export function keep(name, value) {
    try {
        localStorage.setItem(`duplex.${name}`, JSON.stringify(value));
    } catch {
        // A browser that keeps nothing is no reason to stop.
    }
}
