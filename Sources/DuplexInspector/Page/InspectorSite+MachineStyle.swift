// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// The style of the machine's page.
    static let machineStyle = #"""
        .part-machine h3 { margin: 0; font-size: 0.875rem; font-weight: 600; color: var(--soft); }
        .part-machine > * { flex: none; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: 0.75rem; }
        .tile { display: grid; gap: 0.125rem; align-content: start; }
        .tile strong { font-size: 1.375rem; font-weight: 620; font-variant-numeric: tabular-nums; }
        .tile .soft { min-block-size: 1.25rem; font-size: 0.8125rem; }
        .tile .spark { inline-size: 100%; block-size: 2rem; }
        .halves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 0.75rem; }
        .part-machine .pane { display: flex; flex-direction: column; gap: 0.5rem; min-inline-size: 0; }
        .part-machine .pane.tile { display: grid; gap: 0.125rem; }
        .part-machine .pane > button { align-self: start; }
        .part-machine .pane > .soft { font-size: 0.8125rem; }
        .part-machine .grid-frame { max-block-size: 22rem; flex: none; }
        .part-machine table.grid td { font-variant-numeric: tabular-nums; white-space: pre-line; }
        #machine-listing { display: grid; gap: 0.5rem; min-inline-size: 0; }
        #machine-listing td:nth-child(2) { white-space: nowrap; }
        .kinds { display: flex; flex-wrap: wrap; gap: 0.375rem; }
        .columns { inline-size: 8rem; block-size: 1.5rem; fill: var(--accent); background: var(--well); border-radius: 0.25rem; }
        .changes { display: grid; gap: 0.25rem; max-block-size: 12rem; overflow: auto; font-size: 0.875rem; }

        """#
}
