// SPDX-License-Identifier: Apache-2.0
// Drawings on a field of 24 × 24, stroked in the colour of the text around them.

import { make } from "./dom.js";

const sheet = "M6 3h8l5 5v12a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM14 3v5h5";
const folder = "M3 18V6a1 1 0 0 1 1-1h5l2 3h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1z";
const bin = ["M4 7h16M9 7V4h6v3", "M6 7l1 13h10l1-13", "M10 11v5M14 11v5"];

const drawings = {
    file: [sheet],
    text: [sheet, "M8 12h8M8 15h8M8 18h5"],
    code: [sheet, "M10 12l-2 2.5l2 2.5M14 12l2 2.5l-2 2.5"],
    image: ["M4 5h16v14H4z", "M4 16l5-5 4 4 3-3 4 4", "M15 9h.01"],
    audio: [
        "M9 18V6l10-2v12",
        "M9 18a2.5 2.5 0 1 1-2.5-2.5A2.5 2.5 0 0 1 9 18z",
        "M19 16a2.5 2.5 0 1 1-2.5-2.5A2.5 2.5 0 0 1 19 16z",
    ],
    video: ["M4 6h11v12H4z", "M15 11l5-3v8l-5-3"],
    pdf: [sheet, "M8 18v-6h1.5a1.75 1.75 0 0 1 0 3.5H8M14 12v6M14 12h3M14 15h2"],
    archive: [sheet, "M10 3v2M10 7v2M10 11v2M9 15h2v3H9z"],
    table: [sheet, "M8 12h8v6H8zM8 15h8M12 12v6"],
    folder: [folder],
    folderOpen: ["M3 18V6a1 1 0 0 1 1-1h5l2 3h8a1 1 0 0 1 1 1v2", "M3 18l3-7h16l-3 7a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1z"],
    newFolder: [folder, "M12 11v5M9.5 13.5h5"],
    upload: ["M12 16V4M7 9l5-5 5 5", "M4 15v4a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-4"],
    uploadFolder: [folder, "M12 16v-5M9.5 13.5l2.5-2.5 2.5 2.5"],
    download: ["M12 4v12M7 11l5 5 5-5", "M4 17v2a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-2"],
    rename: ["M4 20l1-4L16 5l3 3L8 19z", "M14 7l3 3"],
    move: [folder, "M8 13.5h7M12.5 11l2.5 2.5-2.5 2.5"],
    copy: ["M9 9h11v11H9z", "M5 15H4V4h11v1"],
    restore: ["M4 5v5h5", "M4.5 10a8 8 0 1 1-.5 4"],
    trash: bin,
    search: ["M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13z", "M15.5 15.5L20 20"],
    eye: ["M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z", "M12 15a3 3 0 1 1 0-6 3 3 0 0 1 0 6z"],
    close: ["M6 6l12 12M18 6L6 18"],
    pause: ["M8 5v14M16 5v14"],
    play: ["M7 5l12 7-12 7z"],
    again: ["M20 5v5h-5", "M19.5 10a8 8 0 1 0 .5 4"],
    fold: ["M6 9l6 6 6-6"],
    up: ["M12 20V5M6 11l6-6 6 6"],
    home: ["M4 11l8-7 8 7", "M6 10v9h12v-9"],
    previous: ["M15 5l-7 7 7 7"],
    next: ["M9 5l7 7-7 7"],
    done: ["M5 12.5l5 5L19 7"],
    warning: ["M12 4l9 16H3z", "M12 10v5M12 17.5v.5"],
    connections: ["M4 8h13M13 4l4 4-4 4", "M20 16H7M11 12l-4 4 4 4"],
    requests: ["M4 6h16M4 12h10M4 18h13", "M18 10l2 2-2 2"],
    console: ["M3 5h18v14H3z", "M7 9l3 3-3 3M12 15h5"],
    database: [
        "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3z",
        "M4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6",
        "M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
    ],
    values: ["M4 7h10M18 7h2M16 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4z", "M4 17h2M10 17h10M8 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4z"],
    commands: ["M5 4l14 8-14 8z"],
    views: ["M12 3l9 5-9 5-9-5z", "M3 12l9 5 9-5", "M3 16l9 5 9-5"],
    machine: ["M6 6h12v12H6z", "M9 3v3M15 3v3M9 18v3M15 18v3M3 9h3M3 15h3M18 9h3M18 15h3"],
    record: ["M12 19a7 7 0 1 1 0-14 7 7 0 0 1 0 14z", "M12 14a2 2 0 1 1 0-4 2 2 0 0 1 0 4z"],
    send: ["M3 11l18-7-7 17-3-7z"],
    back: ["M14 6l-6 6 6 6"],
};

/** An icon, hidden from screen readers. */
export function icon(name) {
    const namespace = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(namespace, "svg");
    for (const [key, value] of [
        ["viewBox", "0 0 24 24"],
        ["class", `icon ${name}`],
        ["aria-hidden", "true"],
    ]) {
        svg.setAttribute(key, value);
    }
    for (const line of drawings[name] ?? drawings.file) {
        const path = document.createElementNS(namespace, "path");
        path.setAttribute("d", line);
        svg.append(path);
    }
    return svg;
}

/**
 * A button with an icon, and a text or only a label.
 *
 * @param {string} drawing
 * @param {{ text?: string, label?: string, [name: string]: any }} attributes
 */
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

/** Puts the icons where the markup names them. */
export function drawIcons() {
    /** @type {NodeListOf<HTMLElement>} */
    const nodes = document.querySelectorAll("[data-icon]");
    for (const node of nodes) changeIcon(node, node.dataset.icon);
}
