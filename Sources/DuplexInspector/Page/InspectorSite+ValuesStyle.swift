// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// The look of values and commands.
    static let valuesStyle = #"""
        .inspector h3 { margin: 0; font-size: 0.9375rem; font-weight: 620; }
        .sections { display: grid; gap: 1.25rem; }
        .sections section { display: grid; gap: 0.5rem; min-inline-size: 0; }
        .grid.values { table-layout: fixed; }
        .grid.values th[scope="row"] {
            position: static;
            border-block-start: 1px solid var(--line);
            background: none;
            color: var(--ink);
            font-weight: 500;
            white-space: normal;
            overflow-wrap: anywhere;
            vertical-align: top;
        }
        .grid.values .names { inline-size: 16rem; }
        .grid.values .deeds { inline-size: 8.5rem; }
        .grid.values td.actions { text-align: end; white-space: nowrap; }
        .grid.values td.actions > * + * { margin-inline-start: 0.375rem; }
        .grid.values pre.text { max-block-size: 12rem; overflow: auto; }
        .edit, .command { display: grid; gap: 0.5rem; }
        .edit textarea, .edit input, .edit select, .command textarea, .command input, .command select { inline-size: 100%; }
        .inspector input[type="password"] {
            padding-inline: 0.75rem;
            border: 1px solid var(--edge);
            background: var(--surface);
            color: inherit;
        }
        .fault { color: var(--danger); overflow-wrap: anywhere; }
        .fault:empty { display: none; }
        .commands-layout { display: grid; grid-template-columns: minmax(16rem, 24rem) minmax(0, 1fr); gap: 1.25rem; align-items: start; }
        .forms, .history, .runs { display: grid; gap: 0.75rem; min-inline-size: 0; }
        .command .field { display: grid; gap: 0.25rem; }
        .command label { font-size: 0.8125rem; }
        .run { display: grid; gap: 0.5rem; }
        .run .given { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); }
        .run .answer:empty { display: none; }
        .run .answer { display: grid; gap: 0.375rem; min-inline-size: 0; }
        .run .answer pre, .run .answer .grid-frame { max-block-size: 24rem; overflow: auto; }

        @media (max-width: 60rem) {
            .commands-layout { grid-template-columns: minmax(0, 1fr); }
        }
        @media (max-width: 40rem) {
            .grid.values, .grid.values tbody, .grid.values tr, .grid.values th[scope="row"], .grid.values td, .grid.values td.actions {
                display: block;
                inline-size: auto;
            }
            .grid.values td { border-block-start: 0; }
            .grid.values td.actions { text-align: start; }
        }

        """#
}
