// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// The look of the page of views.
    static let viewsStyle = #"""
        .part-views { overflow: hidden; }
        .views-layout {
            flex: 1;
            display: grid;
            grid-template-columns: minmax(12rem, 18rem) minmax(0, 1fr) minmax(12rem, 18rem);
            gap: 0.75rem;
            min-block-size: 0;
        }
        .views-side { display: flex; flex-direction: column; gap: 0.5rem; min-block-size: 0; min-inline-size: 0; }
        .tree, .stage, .details { border: 1px solid var(--line); border-radius: 0.625rem; background: var(--surface); }
        .tree { flex: 1; position: relative; overflow: auto; min-block-size: 8rem; }
        .tree-space { position: relative; min-inline-size: 100%; }
        .tree-row {
            position: absolute;
            inset-inline: 0;
            display: flex;
            align-items: center;
            gap: 0.375rem;
            block-size: 26px;
            padding-inline-end: 0.5rem;
            font-size: 0.8125rem;
            white-space: nowrap;
            cursor: pointer;
        }
        .tree-row .type { flex: none; }
        .tree-row .soft { overflow: hidden; text-overflow: ellipsis; font-size: 0.75rem; }
        .tree-row.hovered { background: var(--well); }
        .tree-row.off { opacity: 0.75; font-style: italic; }
        .tree-row.found .type { color: var(--accent-strong); font-weight: 650; }
        .tree-row[aria-selected="true"] { background: var(--accent-wash); }
        .twist { inline-size: 1rem; flex: none; text-align: center; color: var(--soft); }
        .twist.none { visibility: hidden; }
        .stage { position: relative; min-block-size: 12rem; overflow: hidden; }
        .stage canvas { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; touch-action: none; cursor: grab; }
        .stage canvas:active { cursor: grabbing; }
        .stage-label {
            position: absolute;
            padding: 0 0.375rem;
            border-radius: 0.375rem;
            background: var(--accent);
            color: var(--on-accent);
            font-size: 0.75rem;
            pointer-events: none;
            max-inline-size: 60%;
            overflow: hidden;
            text-overflow: ellipsis;
            white-space: nowrap;
        }
        .details { display: flex; flex-direction: column; gap: 0.75rem; padding: 0.75rem; overflow: auto; min-inline-size: 0; }
        .details h3 { overflow-wrap: anywhere; }
        .view-picture { align-self: start; max-inline-size: 100%; max-block-size: 16rem; border: 1px solid var(--line); background: var(--well); }
        .check, .slide { display: inline-flex; align-items: center; gap: 0.375rem; font-size: 0.8125rem; }
        .inspector .slide input { inline-size: 5.5rem; min-block-size: 1.5rem; accent-color: var(--accent); }
        .inspector .check input { min-block-size: 1.125rem; }
        button[aria-pressed="true"] { border-color: var(--accent); background: var(--accent-wash); color: var(--accent-strong); }

        @media (max-width: 60rem) {
            .part-views { overflow: auto; }
            .views-layout { flex: none; grid-template-columns: minmax(0, 1fr); }
            .stage { order: -1; block-size: 52vh; }
            .tree { block-size: 40vh; flex: none; }
            .details { max-block-size: none; }
        }

        """#
}
