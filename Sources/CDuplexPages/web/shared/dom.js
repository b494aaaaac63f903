// Elements. Names and other foreign text become text nodes and attribute values, never markup.

import { drawings } from "./icons.js";

export const byId = (id) => document.getElementById(id);

/**
 * Makes an element; `on…` attributes become listeners, `text` its text, and false, null and undefined are left
 * out.
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

/** An icon of the table in `icons.js`, hidden from screen readers. */
export function icon(name) {
    const namespace = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(namespace, "svg");
    for (const [key, value] of [["viewBox", "0 0 24 24"], ["class", `icon ${name}`], ["aria-hidden", "true"]]) {
        svg.setAttribute(key, value);
    }
    for (const line of drawings[name] ?? drawings.file) {
        const path = document.createElementNS(namespace, "path");
        path.setAttribute("d", line);
        svg.append(path);
    }
    return svg;
}

/** A button with an icon, and a text or only a label. */
export function button(drawing, { text, label, ...attributes }) {
    const named = { type: "button", "aria-label": label, title: label, ...attributes };
    const node = make("button", named, icon(drawing));
    if (text) node.append(make("span", { text }));
    return node;
}

/** Another icon in place of the one that a button has. */
export function changeIcon(node, name) {
    if (node.dataset.shown === name) return;
    node.dataset.shown = name;
    node.querySelector("svg")?.remove();
    node.prepend(icon(name));
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

/** Puts the icons where the markup names them. */
export function drawIcons() {
    for (const node of document.querySelectorAll("[data-icon]")) changeIcon(node, node.dataset.icon);
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
