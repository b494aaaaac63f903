// SPDX-License-Identifier: Apache-2.0
// Lines and columns of numbers, and tables whose rows stay what they are while their texts change.

import { arrange, make } from "./dom.js";
import { t } from "./texts.js";

const namespace = "http://www.w3.org/2000/svg";
const points = 60;

function drawing(tag, attributes) {
    const node = document.createElementNS(namespace, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
}

/** A line of the last 60 numbers, from zero to the largest of them; what it says stands beside it as text. */
export function spark() {
    const values = [];
    const line = drawing("polyline", { points: "", "vector-effect": "non-scaling-stroke" });
    const node = drawing("svg", {
        class: "spark",
        viewBox: `0 0 ${points - 1} 20`,
        preserveAspectRatio: "none",
        "aria-hidden": "true",
    });
    node.append(line);
    return {
        node,
        add(value) {
            values.push(value);
            if (values.length > points) values.shift();
            const top = Math.max(...values) || 1;
            const first = points - values.length;
            line.setAttribute(
                "points",
                values.map((one, index) => `${first + index},${(19 - (18 * one) / top).toFixed(1)}`).join(" "),
            );
        },
    };
}

/** Columns of counts, as high as their logarithms. */
export function columns() {
    const node = drawing("svg", { class: "columns", viewBox: "0 0 90 20", preserveAspectRatio: "none", role: "img" });
    let bars = [];
    node.show = (counts) => {
        if (bars.length !== counts.length) {
            bars = counts.map((_, index) =>
                drawing("rect", { x: 1 + (index * 90) / counts.length, width: 90 / counts.length - 2 }),
            );
            node.replaceChildren(...bars);
        }
        const top = Math.log1p(Math.max(...counts)) || 1;
        counts.forEach((count, index) => {
            const height = count === 0 ? 0 : Math.max(1, (19 * Math.log1p(count)) / top);
            bars[index].setAttribute("y", `${20 - height}`);
            bars[index].setAttribute("height", `${height}`);
        });
        node.setAttribute("aria-label", t("delayCounts", { counts: counts.join(", ") }));
    };
    return { node };
}

/** A table; `numbers` names the columns that are numbers, from 0 on. */
export function table(name, heads, numbers) {
    const body = make("tbody");
    const cells = heads.map((text, index) =>
        make("th", { scope: "col", class: numbers.includes(index) ? "number" : "", text }),
    );
    const node = make(
        "div",
        { class: "grid-frame", tabindex: "0", role: "region", "aria-label": name },
        make("table", { class: "grid", "aria-label": name }, make("thead", {}, make("tr", {}, ...cells)), body),
    );
    return { node, body };
}

/** Gives a table these rows: `make` gives the cells of a new one, `show` writes an item into them. */
export function rows(body, items, key, { make: cells, show }) {
    const former = new Map([...body.children].map((row) => [row.key, row]));
    const wanted = items.map((item) => {
        let row = former.get(key(item));
        if (!row) {
            row = make("tr", {}, ...cells());
            row.key = key(item);
        }
        show(row.children, item);
        return row;
    });
    arrange(body, wanted);
}
