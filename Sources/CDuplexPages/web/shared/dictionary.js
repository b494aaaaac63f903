// SPDX-License-Identifier: Apache-2.0
// The texts of a page: found by their keys, with values in them, and filled into the markup.

/**
 * What finds the texts of a page, and what fills them into its markup. A page with several languages names the one that is
 * chosen: its table, its tag, and the variant of it in which numbers are written.
 *
 * @template {Record<string, string | Record<string, string>>} Table
 * @param {Table} english the table that has every key
 * @param {{ table?: () => Record<string, any>, language?: () => string, locale?: () => string }} chosen
 */
export function dictionary(english, { table = () => english, language = () => "en", locale = language } = {}) {
    const rule = (count) => new Intl.PluralRules(language()).select(count);

    /**
     * A text with `{name}` replaced by the values. A text that depends on a count has forms: the language's rules
     * choose one for `count`.
     *
     * @param {keyof Table & string} key
     * @param {Record<string, any>} values numbers are written as the language does; texts stay as they are
     * @returns {string}
     */
    function t(key, values = {}) {
        const entry = table()[key] ?? english[key] ?? key;
        const form = typeof entry === "string" ? entry : (entry[rule(values.count)] ?? entry.other);
        return form.replace(/\{(\w+)\}/g, (whole, name) => {
            const value = values[name];
            return typeof value === "number" ? value.toLocaleString(locale()) : (value ?? whole);
        });
    }

    /**
     * Fills in the markup: `data-text` content, `data-label` names, which are titles too where a button has no text,
     * `data-hint` placeholders, `data-tip` titles, `data-say` content and title, and `data-none` what the style shows
     * in something empty.
     */
    function translate(root = document) {
        /** @type {(name: string) => NodeListOf<any>} */
        const all = (name) => root.querySelectorAll(`[data-${name}]`);
        document.documentElement.lang = language();
        for (const node of all("text")) {
            const text = t(node.dataset.text);
            // Status texts that stay what they are aren't read out.
            if (node.textContent !== text) node.textContent = text;
        }
        for (const node of all("hint")) node.placeholder = t(node.dataset.hint);
        for (const node of all("tip")) node.title = t(node.dataset.tip);
        for (const node of all("none")) node.dataset.empty = t(node.dataset.none);
        for (const node of all("label")) {
            node.setAttribute("aria-label", t(node.dataset.label));
            if (node.matches("button") && node.textContent === "") node.title = t(node.dataset.label);
        }
        for (const node of all("say")) {
            const words = node.querySelector("span") ?? node.appendChild(document.createElement("span"));
            words.textContent = t(node.dataset.say);
            node.title = t(node.dataset.say);
        }
    }

    return { t, translate };
}
