// SPDX-License-Identifier: Apache-2.0
// A field for a value: text, whole number, number, yes or no, one of several, JSON. Its value is a text, whatever its kind.

import { make } from "./dom.js";
import { visible } from "./foreign.js";

function select(choices, initial, attributes) {
    const options = choices.map(([value, text]) =>
        make("option", { value, text: visible(text), selected: value === initial }),
    );
    return make("select", attributes, ...options);
}

function choose({ kind, choices, initial, optional, secret, isLong, least, most }, attributes) {
    switch (kind) {
        case "bool":
            return select(
                [
                    ["true", "true"],
                    ["false", "false"],
                ],
                initial,
                attributes,
            );
        case "choice": {
            const none = optional ? [["", "–"]] : [];
            return select([...none, ...choices.map((one) => [one, one])], initial, attributes);
        }
        case "integer":
        case "number":
            return make("input", {
                type: "number",
                step: kind === "integer" ? "1" : "any",
                min: least,
                max: most,
                ...attributes,
            });
        case "json":
            return make("textarea", { rows: "8", spellcheck: "false", ...attributes });
        default:
            if (secret) return make("input", { type: "password", autocomplete: "off", class: "field", ...attributes });
            return isLong
                ? make("textarea", {
                      rows: `${Math.min(10, `${initial ?? ""}`.split("\n").length)}`,
                      spellcheck: "false",
                      ...attributes,
                  })
                : make("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes });
    }
}

/**
 * Makes a field.
 *
 * @param item `kind`, `choices`, `initial`, `label`, `optional`, `secret`, `isLong`, `least`, `most`, `id`
 * @returns `{ node, value, focus() }`
 */
export function field(item) {
    const node = choose(item, { "aria-label": item.label, id: item.id });
    if (node.tagName !== "SELECT" && item.initial !== undefined) node.value = item.initial;
    return {
        node,
        get value() {
            return node.value;
        },
        focus() {
            node.focus();
            node.select?.();
        },
    };
}
