// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// Recordings and their entries.
    static let recordingsStyle = #"""
        .part-recordings .list { flex: 1 1 16rem; min-block-size: 10rem; }
        .part-recordings .list td:nth-child(2) { white-space: nowrap; }
        .part-recordings td.mono { font-size: 0.8125rem; }
        .part-recordings.dropping { outline: 2px dashed var(--accent); outline-offset: -0.5rem; }
        .part-recordings .tools select { max-inline-size: 16rem; }
        .part-recordings.with-detail { display: grid; grid-template: "tools tools" auto "state state" auto "list detail" minmax(12rem, 1fr) "replay replay" auto / minmax(16rem, 2fr) minmax(0, 3fr); }
        .part-recordings.with-detail > .tools { grid-area: tools; }
        .part-recordings.with-detail > .soft { grid-area: state; }
        .part-recordings.with-detail > .list { grid-area: list; }
        .part-recordings.with-detail > .replay { grid-area: replay; }
        .part-recordings.with-detail .list th:nth-child(n + 4), .part-recordings.with-detail .list td:nth-child(n + 4) { display: none; }
        .part-recordings > .detail { grid-area: detail; position: relative; display: grid; grid-template-columns: minmax(0, 1fr); grid-auto-rows: max-content; align-content: start; gap: 0.75rem; min-inline-size: 0; overflow: auto; }
        .part-recordings > .detail[hidden] { display: none; }
        .part-recordings .detail h3 { padding-inline-end: 2.5rem; overflow-wrap: anywhere; }
        .replay { display: grid; gap: 0.5rem; }
        .replay form { display: grid; gap: 0.5rem; }
        .replay h3 { margin: 0; font-size: 1rem; }
        .replay textarea { inline-size: 100%; }

        @media (max-width: 64rem) {
            .part-recordings.with-detail { display: flex; }
            .part-recordings.with-detail > .list { display: none; }
            .part-recordings > .detail { overflow: visible; }
            .part-recordings .list { flex: none; max-block-size: 24rem; }
        }
        @media (max-width: 48rem) {
            .part-recordings .list th:nth-child(1), .part-recordings .list td:nth-child(1),
            .part-recordings .list th:nth-child(n + 5), .part-recordings .list td:nth-child(n + 5) { display: none; }
        }

        """#
}
