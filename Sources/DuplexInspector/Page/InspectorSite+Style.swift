// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// The frame, and what the parts share: toolbars, tables, badges, panes.
    static let style = #"""
        body.inspector {
            display: grid;
            grid-template: "bar bar" auto "parts main" minmax(0, 1fr) / 12.5rem minmax(0, 1fr);
            block-size: 100dvh;
            padding: 0;
            font-size: 0.9375rem;
        }
        .bar {
            grid-area: bar;
            display: flex;
            align-items: center;
            gap: 0.75rem;
            padding: 0.5rem 1rem;
            border-block-end: 1px solid var(--line);
            background: var(--surface);
        }
        .bar h1 { flex: 1; font-size: 1.0625rem; }
        .link { font-size: 0.8125rem; color: var(--accent); }
        .link.lost { color: var(--danger); }
        .parts {
            grid-area: parts;
            display: flex;
            flex-direction: column;
            gap: 0.125rem;
            padding: 0.5rem;
            border-inline-end: 1px solid var(--line);
            overflow: auto;
        }
        .parts a {
            display: flex;
            align-items: center;
            gap: 0.625rem;
            min-block-size: 2.5rem;
            padding: 0.25rem 0.75rem;
            border-radius: 0.625rem;
            text-decoration: none;
            color: var(--soft);
        }
        .parts a:hover { background: var(--well); color: var(--ink); }
        .parts a[aria-current] { background: var(--accent-wash); color: var(--accent-strong); font-weight: 600; }
        .inspector main {
            grid-area: main;
            display: flex;
            flex-direction: column;
            gap: 0.75rem;
            max-inline-size: none;
            min-inline-size: 0;
            margin: 0;
            padding: 0.75rem 1rem;
            overflow: auto;
        }
        .inspector main:focus { outline: none; }

        /* Shared by the parts */

        .tools { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; }
        .tools .grow { flex: 1 1 10rem; min-inline-size: 0; }
        .inspector button, .inspector .button, .inspector input, .inspector select, .inspector textarea {
            min-block-size: 2.125rem;
            padding-block: 0.1875rem;
            border-radius: 0.5rem;
            font-size: 0.875rem;
        }
        .inspector input[type="number"], .inspector textarea {
            padding-inline: 0.75rem;
            border: 1px solid var(--edge);
            background: var(--surface);
            color: inherit;
            font-family: inherit;
        }
        .inspector textarea, .mono { font-family: var(--mono); font-size: 0.8125rem; }
        .grid-frame { min-block-size: 0; overflow: auto; border: 1px solid var(--line); border-radius: 0.625rem; background: var(--surface); }
        table.grid { inline-size: 100%; border-collapse: collapse; font-size: 0.875rem; }
        table.grid th {
            position: sticky;
            inset-block-start: 0;
            z-index: 1;
            padding: 0.375rem 0.625rem;
            background: var(--well);
            color: var(--soft);
            font-weight: 600;
            text-align: start;
            white-space: nowrap;
        }
        table.grid td {
            padding: 0.3125rem 0.625rem;
            border-block-start: 1px solid var(--line);
            vertical-align: top;
            overflow-wrap: anywhere;
        }
        table.grid .number { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
        table.grid tr[aria-selected="true"] td { background: var(--accent-wash); }
        table.grid tbody tr.choice { cursor: pointer; }
        table.grid tbody tr.choice:hover td { background: var(--well); }
        .badge { padding: 0.0625rem 0.4375rem; border-radius: 1rem; background: var(--well); color: var(--soft); font-size: 0.75rem; white-space: nowrap; }
        .badge.good { background: var(--accent-wash); color: var(--accent-strong); }
        .badge.warm { color: var(--warm); }
        .badge.bad { background: var(--danger-wash); color: var(--danger); }
        .pane { padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.625rem; background: var(--surface); }
        .facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.25rem 1rem; font-size: 0.875rem; }
        .facts dt { color: var(--soft); }
        .facts dd { overflow-wrap: anywhere; }
        pre.text { margin: 0; font: 0.8125rem/1.5 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
        .spark { inline-size: 4rem; vertical-align: middle; block-size: 1.25rem; fill: none; stroke: var(--accent); stroke-width: 1.5; }
        .lost-items { color: var(--warm); }
        .toasts { pointer-events: none; position: fixed; inset-block-end: 1rem; inset-inline-end: 1rem; z-index: 9; display: grid; gap: 0.5rem; max-inline-size: min(26rem, 90vw); }
        .toast { padding: 0.625rem 0.875rem; border: 1px solid var(--edge); border-radius: 0.625rem; background: var(--surface); box-shadow: 0 4px 16px var(--shadow); overflow-wrap: anywhere; }
        .toast.danger { border-color: var(--danger); color: var(--danger); }

        @media (max-width: 48rem) {
            body.inspector { grid-template: "bar" auto "parts" auto "main" minmax(0, 1fr) / minmax(0, 1fr); }
            .parts { flex-direction: row; border-inline-end: 0; border-block-end: 1px solid var(--line); padding: 0.25rem; }
            .parts a { flex: none; flex-direction: column; gap: 0.125rem; min-inline-size: 4.25rem; padding: 0.375rem 0.5rem; font-size: 0.75rem; }
            .inspector main { padding: 0.5rem; }
        }

        """#
}
