// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// Connections, their frames and handshakes.
    static let connectionsStyle = #"""
        .part-requests.with-detail,
        .part-connections.with-detail { display: grid; grid-template: "tools tools" auto "list detail" minmax(0, 1fr) / minmax(16rem, 2fr) minmax(0, 3fr); }
        .part-requests.with-detail > .tools,
        .part-connections.with-detail > .tools { grid-area: tools; }
        .part-requests.with-detail .list,
        .part-connections.with-detail .list { grid-area: list; }
        .part-requests .detail,
        .part-connections .detail { grid-area: detail; position: relative; display: grid; grid-template-columns: minmax(0, 1fr); align-content: start; gap: 0.75rem; min-inline-size: 0; overflow: auto; }
        .inspector .detail .close { position: absolute; inset-block-start: 0; inset-inline-end: 0; }
        .inspector .detail h3 { margin: 0; font-size: 1rem; }
        .inspector .detail h4, .inspector .detail h5 { margin: 0 0 0.375rem; font-size: 0.875rem; }
        .with-detail .connections th:nth-child(n + 4), .with-detail .connections td:nth-child(n + 4) { display: none; }
        .part-requests.with-detail th:nth-child(n + 5), .part-requests.with-detail td:nth-child(n + 5) { display: none; }
        .actions { display: grid; gap: 0.5rem; }
        .frames { max-block-size: 26rem; }
        .frames td:not(.payload) { white-space: nowrap; }
        .frames td.payload { max-inline-size: 30rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .frames .in .arrow { color: var(--cool); }
        .frames .out .arrow { color: var(--accent); }
        .opened { margin-block-start: 0.5rem; overflow: auto; }
        .json { padding-inline-start: 1rem; font: 0.8125rem/1.6 var(--mono); overflow-wrap: anywhere; }
        .json summary { cursor: pointer; }
        .json.string { color: var(--accent-strong); }
        .json.number, .json.boolean { color: var(--cool); }
        pre.hex { white-space: pre; overflow: auto; }
        .waterfall { display: grid; gap: 0.25rem; font-size: 0.8125rem; }
        .waterfall li { display: grid; grid-template-columns: minmax(6rem, 12rem) minmax(4rem, 1fr) 4.5rem; gap: 0.5rem; align-items: center; }
        .waterfall .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .waterfall .track { position: relative; block-size: 0.625rem; border-radius: 0.25rem; background: var(--well); }
        .waterfall .bar-part { position: absolute; inset-block: 0; border-radius: 0.25rem; background: var(--accent); }
        .waterfall .attempt { background: var(--cool); }
        .waterfall .number { text-align: end; font-variant-numeric: tabular-nums; }

        @media (max-width: 64rem) {
            .part-requests.with-detail,
        .part-connections.with-detail { display: flex; }
            .part-connections.with-detail .list { display: none; }
            .connections th:nth-child(n + 4), .connections td:nth-child(n + 4) { display: none; }
        }

        """#
}
