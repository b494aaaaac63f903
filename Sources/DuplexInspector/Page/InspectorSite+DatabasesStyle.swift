// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// What the part of the databases looks like.
    static let databasesStyle = #"""
        .part-databases { overflow: hidden; }
        .database-facts { color: var(--soft); font-size: 0.8125rem; }
        .database-frame { display: grid; grid-template-columns: minmax(10rem, 15rem) minmax(0, 1fr); gap: 0.75rem; flex: 1; min-block-size: 0; }
        .database-side { overflow: auto; border: 1px solid var(--line); border-radius: 0.625rem; background: var(--surface); }
        .tables { display: flex; flex-direction: column; padding: 0.25rem; }
        .inspector .table-choice { display: flex; inline-size: 100%; gap: 0.5rem; align-items: baseline; justify-content: space-between; border: 0; background: none; color: inherit; text-align: start; font-weight: 400; white-space: normal; }
        .inspector .table-choice:hover { background: var(--well); }
        .inspector .table-choice[aria-current] { background: var(--accent-wash); color: var(--accent-strong); font-weight: 600; }
        .table-name { overflow-wrap: anywhere; min-inline-size: 0; }
        .table-count { color: var(--soft); font-size: 0.75rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .database-view { display: flex; flex-direction: column; gap: 0.5rem; padding: 0.25rem; min-inline-size: 0; min-block-size: 0; overflow: auto; }
        .database-view > .grid-frame { flex: 1; }
        .inspector [data-view][aria-pressed="true"] { background: var(--accent-wash); color: var(--accent-strong); border-color: var(--accent); }
        table.cells { inline-size: auto; min-inline-size: 100%; }
        table.cells td { max-inline-size: 24rem; overflow: hidden; text-overflow: ellipsis; white-space: pre; overflow-wrap: normal; font: 0.8125rem/1.5 var(--mono); }
        table.cells .null { color: var(--soft); font-style: italic; }
        table.cells .rowid { color: var(--soft); }
        .inspector table.cells button.head { min-block-size: 0; padding: 0; border: 0; background: none; color: inherit; font: inherit; white-space: pre; }
        .inspector table.cells button.head:not(:disabled):hover { color: var(--accent); }
        .inspector table.cells button.whole { min-block-size: 0; max-inline-size: 100%; padding: 0; border: 0; border-radius: 0; display: block; text-align: start; background: none; color: var(--accent); font: inherit; white-space: pre; overflow: hidden; text-overflow: ellipsis; }
        .inspector table.cells button.whole:hover { text-decoration: underline; }
        .pager { font-size: 0.875rem; font-variant-numeric: tabular-nums; }
        .schema { overflow: auto; display: flex; flex-direction: column; gap: 0.25rem; }
        .schema h3, .sql-results h3, .cell-dialog h3 { margin: 0.25rem 0; font-size: 0.9375rem; font-weight: 600; overflow-wrap: anywhere; }
        .schema details { padding: 0.25rem 0.625rem; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--surface); }
        .schema summary { cursor: pointer; overflow-wrap: anywhere; }
        #sql { inline-size: 100%; resize: vertical; min-block-size: 6rem; flex: none; padding-block: 0.5rem; }
        #sql-history { max-inline-size: 14rem; }
        #sql-status { overflow-wrap: anywhere; }
        .database-view label { display: inline-flex; align-items: center; gap: 0.375rem; font-size: 0.875rem; }
        .database-view input[type="checkbox"] { min-block-size: 0; }
        .sql-results { display: flex; flex-direction: column; gap: 0.75rem; }
        .sql-results .grid-frame { max-block-size: 60dvh; margin-block-start: 0.5rem; }
        .plan { padding-inline-start: 1.25rem; list-style: disc; font: 0.8125rem/1.6 var(--mono); overflow-wrap: anywhere; }
        .cell-dialog { inline-size: min(60rem, 94vw); max-block-size: 90dvh; padding: 1rem; border: 1px solid var(--edge); border-radius: 0.75rem; background: var(--surface); color: var(--ink); overflow: auto; }
        .cell-dialog::backdrop { background: var(--veil); }
        pre.cell-dump { white-space: pre; overflow-wrap: normal; }
        .cell-facts { color: var(--soft); font-size: 0.8125rem; }
        .cell-image { display: block; max-inline-size: 100%; max-block-size: 40dvh; margin-block: 0.5rem; }
        .cell-text { max-block-size: 60dvh; overflow: auto; margin-block-start: 0.5rem; padding: 0.5rem; background: var(--well); border-radius: 0.5rem; }

        @media (max-width: 48rem) {
            .part-databases { overflow: auto; }
            .database-frame { grid-template-columns: minmax(0, 1fr); flex: none; }
            .database-side { max-block-size: 9rem; }
            .database-view > .grid-frame { flex: none; max-block-size: 70dvh; }
        }

        """#
}
