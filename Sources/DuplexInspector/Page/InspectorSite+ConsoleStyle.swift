// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// The console's own style.
    static let consoleStyle = #"""
        :root {
            --ansi-0: #1c2421; --ansi-1: #b3261e; --ansi-2: #1d7a35; --ansi-3: #8a5a00;
            --ansi-4: #2455b0; --ansi-5: #8a2f8f; --ansi-6: #0b6a72; --ansi-7: #75827d;
            --ansi-8: #56635f; --ansi-9: #d43a30; --ansi-10: #2a963f; --ansi-11: #a87000;
            --ansi-12: #3570d6; --ansi-13: #a846ad; --ansi-14: #168a93; --ansi-15: #93a09b;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --ansi-0: #55635e; --ansi-1: #ff8a80; --ansi-2: #7fd992; --ansi-3: #e8b75c;
                --ansi-4: #8db8f5; --ansi-5: #d99cf0; --ansi-6: #6cd3d9; --ansi-7: #c3d0cb;
                --ansi-8: #80908a; --ansi-9: #ffaba4; --ansi-10: #a1e8b0; --ansi-11: #f5cf85;
                --ansi-12: #b0cffb; --ansi-13: #e6bcf6; --ansi-14: #98e5ea; --ansi-15: #f2f7f5;
            }
        }
        .part-console .choice-box { display: inline-flex; align-items: center; gap: 0.375rem; min-block-size: 2.125rem; font-size: 0.875rem; }
        .console-state { min-block-size: 2.125rem; justify-content: space-between; font-size: 0.875rem; }
        .console-frame { flex: 1; min-block-size: 12rem; overflow-anchor: none; }
        .console-frame:focus-visible { outline-offset: -3px; }
        #console-earlier { inline-size: 100%; border-radius: 0; }
        .lines { font: 0.8125rem/1.5 var(--mono); padding-block: 0.25rem; }
        .line {
            display: grid;
            grid-template-columns: 6.75rem 5.25rem minmax(0, 1fr) max-content;
            gap: 0 0.5rem;
            padding: 0 0.625rem;
            border-inline-start: 3px solid transparent;
            content-visibility: auto;
            contain-intrinsic-block-size: auto 1.25rem;
        }
        .line:hover { background: var(--well); }
        .line time { color: var(--soft); font-variant-numeric: tabular-nums; }
        .line .kind { color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .line .said { white-space: pre-wrap; overflow-wrap: anywhere; min-inline-size: 0; }
        .line .label { color: var(--accent); }
        .line .cut { color: var(--warm); }
        .line.of-error, .line.of-critical { border-color: var(--danger); }
        .line.of-error .kind, .line.of-critical .kind { color: var(--danger); }
        .line.of-critical { background: var(--danger-wash); }
        .line.of-warning { border-color: var(--warm); }
        .line.of-warning .kind { color: var(--warm); }
        .line.of-notice .kind, .line.of-info .kind { color: var(--cool); }
        .line.lost-items { display: block; padding-block: 0.25rem; font-family: var(--sans); }
        .line .more summary { color: var(--soft); cursor: pointer; white-space: nowrap; }
        .line:has(.more[open]) { content-visibility: visible; grid-template-columns: 6.75rem 5.25rem minmax(0, 1fr); }
        .line .more[open] { grid-column: 3; margin-block-end: 0.5rem; }
        .line mark { background: var(--warm); color: var(--page); border-radius: 0.1875rem; }
        .ansi-bold { font-weight: 700; }
        .ansi-faint { opacity: 0.75; }
        .ansi-italic { font-style: italic; }
        .ansi-underline { text-decoration: underline; }
        .ansi-strike { text-decoration: line-through; }
        .ansi-underline.ansi-strike { text-decoration: underline line-through; }

        @media (max-width: 48rem) {
            .line { grid-template-columns: max-content minmax(0, 1fr) max-content; padding-block: 0.1875rem; }
            .line .said { grid-column: 1 / -1; grid-row: 2; }
            .line .more { grid-column: 3; grid-row: 1; }
            .line:has(.more[open]) { grid-template-columns: max-content minmax(0, 1fr); }
            .line .more[open] { grid-column: 1 / -1; grid-row: 3; }
        }

        """#
}
