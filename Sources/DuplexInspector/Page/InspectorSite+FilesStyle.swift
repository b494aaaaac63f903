// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// What the part of the files looks like.
    static let filesStyle = #"""
        .part-files { overflow: hidden; }
        .files-place { min-inline-size: 0; min-block-size: 0; }
        .files-columns {
            display: flex; block-size: 100%; overflow-x: auto; scroll-snap-type: x proximity;
            border: 1px solid var(--line); border-radius: 0.625rem; background: var(--page);
        }
        .column {
            flex: 0 0 min(15rem, 85%); overflow-y: auto; padding: 0.25rem; scroll-snap-align: end;
            border-inline-end: 1px solid var(--line);
        }
        .column:focus-visible { outline-offset: -2px; }
        .column .entry {
            display: flex; align-items: center; gap: 0.5rem; padding: 0.25rem 0.5rem; border-radius: 0.375rem; cursor: default;
        }
        .column .entry .label { flex: 1; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .column .entry svg { flex: none; }
        .column .entry[aria-selected=true] { background: var(--line); }
        .column p { margin: 0.5rem; }
        .files-parts { display: grid; grid-template-columns: minmax(0, 1fr) 17rem; gap: 0.75rem; flex: 1; min-block-size: 0; }
        .files-frame { inline-size: 100%; block-size: 100%; border: 1px solid var(--line); border-radius: 0.625rem; background: var(--page); }
        .file-details { display: flex; flex-direction: column; gap: 0.75rem; overflow: auto; }
        .file-details h3 { margin: 0; font-size: 0.9375rem; overflow-wrap: anywhere; }
        .file-details .facts { font-size: 0.8125rem; }
        .file-details .soft { color: var(--soft); font-size: 0.875rem; }

        @media (max-width: 64rem) {
            .files-parts { grid-template: minmax(0, 1fr) auto / minmax(0, 1fr); }
            .file-details { max-block-size: 12rem; }
        }

        """#
}
