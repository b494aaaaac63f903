// SPDX-License-Identifier: Apache-2.0
// The tree of views as a list: only the rows in sight are elements, so that ten thousand views cost what fifty do.

import { arrange, make } from "./dom.js";
import { visible } from "./foreign.js";
import { t } from "./texts.js";

const rowHeight = 26;

export class TreeList {
    /** `onSelect(index)` and `onHover(index)` get what somebody points at; undefined: nothing. */
    constructor({ onSelect, onHover }) {
        this.onSelect = onSelect;
        this.onHover = onHover;
        this.collapsed = new Set();
        this.rows = [];
        this.found = null;
        this.elements = new Map();
        this.space = make("div", { class: "tree-space", role: "presentation" });
        this.node = make(
            "div",
            { class: "tree", id: "views-tree", role: "tree", tabindex: "0", "aria-label": t("treeOfViews") },
            this.space,
        );
        this.node.addEventListener("scroll", () => this.draw());
        this.node.addEventListener("keydown", (event) => this.press(event));
        this.node.addEventListener("pointerleave", () => this.onHover(undefined));
        this.space.addEventListener("pointerover", (event) => this.onHover(this.indexOf(event)));
        this.space.addEventListener("click", (event) => this.click(event));
        this.resizes = new ResizeObserver(() => this.draw());
        this.resizes.observe(this.node);
    }

    indexOf(event) {
        const row = event.target.closest("[role=treeitem]");
        return row ? Number(row.dataset.index) : undefined;
    }

    click(event) {
        const index = this.indexOf(event);
        if (index === undefined) return;
        if (event.target.closest(".twist")) this.toggle(index);
        else this.onSelect(index);
    }

    set(scene) {
        this.scene = scene;
        this.arrange();
    }

    /** Shows only these views, by their identities, and what they are in; `null`: all. */
    find(ids) {
        this.found = ids && new Set(ids);
        this.arrange();
    }

    mark({ selected, hovered }) {
        this.selected = selected;
        this.hovered = hovered;
        this.draw();
    }

    /** Which rows there are. */
    arrange() {
        const { nodes } = this.scene;
        let wanted = null;
        if (this.found) {
            wanted = new Set();
            for (const node of nodes) {
                if (!this.found.has(node.id)) continue;
                for (let index = node.index; index >= 0 && !wanted.has(index); index = nodes[index].parent)
                    wanted.add(index);
            }
        }
        const rows = [];
        const waiting = nodes.length > 0 ? [0] : [];
        while (waiting.length > 0) {
            const node = nodes[waiting.pop()];
            if (wanted && !wanted.has(node.index)) continue;
            rows.push(node.index);
            if (!wanted && this.collapsed.has(node.id)) continue;
            for (let place = node.children.length - 1; place >= 0; place -= 1) waiting.push(node.children[place]);
        }
        this.rows = rows;
        this.space.style.blockSize = `${rows.length * rowHeight}px`;
        this.draw();
    }

    draw() {
        if (!this.scene) return;
        const first = Math.max(0, Math.floor(this.node.scrollTop / rowHeight) - 4);
        const last = Math.min(this.rows.length, first + Math.ceil(this.node.clientHeight / rowHeight) + 8);
        // Rows stay the elements that they are: one that a button of the mouse is down on can be clicked only then.
        const shown = new Map();
        this.rows.slice(first, last).forEach((index, place) => {
            const row = this.elements.get(index) ?? this.makeRow(index);
            this.fill(row, this.scene.nodes[index], first + place);
            shown.set(index, row);
        });
        this.elements = shown;
        arrange(this.space, [...shown.values()]);
        const isThere = this.rows.indexOf(this.selected);
        if (isThere >= first && isThere < last)
            this.node.setAttribute("aria-activedescendant", `view-${this.selected}`);
        else this.node.removeAttribute("aria-activedescendant");
    }

    makeRow(index) {
        return make(
            "div",
            { role: "treeitem", id: `view-${index}`, class: "tree-row", "data-index": index },
            make("span", { class: "twist", "aria-hidden": "true" }),
            make("span", { class: "type", dir: "auto" }),
            make("span", { class: "soft", dir: "auto" }),
        );
    }

    fill(row, node, place) {
        const isParent = node.children.length > 0;
        const isOpen = this.found !== null || !this.collapsed.has(node.id);
        const classes = {
            hovered: node.index === this.hovered,
            off: node.isOff,
            found: this.found?.has(node.id) ?? false,
        };
        for (const [name, isOn] of Object.entries(classes)) row.classList.toggle(name, isOn);
        row.setAttribute("aria-level", node.depth + 1);
        row.setAttribute("aria-selected", `${node.index === this.selected}`);
        if (isParent) row.setAttribute("aria-expanded", `${isOpen}`);
        else row.removeAttribute("aria-expanded");
        row.style.insetBlockStart = `${place * rowHeight}px`;
        row.style.paddingInlineStart = `${0.375 + Math.min(node.depth, 24) * 0.75}rem`;
        const [twist, type, id] = row.children;
        twist.classList.toggle("none", !isParent);
        const texts = [
            [twist, isOpen ? "▾" : "▸"],
            [type, visible(node.type)],
            [id, visible(node.id)],
        ];
        for (const [part, text] of texts) if (part.textContent !== text) part.textContent = text;
    }

    toggle(index) {
        const { id } = this.scene.nodes[index];
        if (!this.collapsed.delete(id)) this.collapsed.add(id);
        this.arrange();
    }

    /** Has a view be in sight, whatever was folded above it. */
    reveal(index) {
        let hasChanged = false;
        for (let above = this.scene.nodes[index].parent; above >= 0; above = this.scene.nodes[above].parent) {
            hasChanged = this.collapsed.delete(this.scene.nodes[above].id) || hasChanged;
        }
        if (hasChanged) this.arrange();
        const place = this.rows.indexOf(index);
        if (place < 0) return;
        const [top, height] = [place * rowHeight, this.node.clientHeight];
        if (top < this.node.scrollTop || top + rowHeight > this.node.scrollTop + height) {
            this.node.scrollTop = Math.max(0, top - height / 2);
        }
    }

    press(event) {
        const place = this.rows.indexOf(this.selected);
        const node = this.scene?.nodes[this.selected];
        const go = (index) => index !== undefined && index >= 0 && this.onSelect(index);
        const isOpen = node && node.children.length > 0 && !this.collapsed.has(node.id);
        const keys = {
            ArrowDown: () => go(this.rows[Math.min(this.rows.length - 1, place + 1)]),
            ArrowUp: () => go(this.rows[Math.max(0, place - 1)]),
            Home: () => go(this.rows[0]),
            End: () => go(this.rows.at(-1)),
            ArrowRight: () =>
                node && (isOpen || node.children.length === 0 ? go(node.children[0]) : this.toggle(node.index)),
            ArrowLeft: () => node && (isOpen ? this.toggle(node.index) : go(node.parent)),
        };
        if (!keys[event.key]) return;
        event.preventDefault();
        keys[event.key]();
    }

    close() {
        this.resizes.disconnect();
    }
}
