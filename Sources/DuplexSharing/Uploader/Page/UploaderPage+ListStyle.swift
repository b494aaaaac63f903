// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension UploaderPage {
    /// The style of the path, the list and the bar of the selection.
    static let listStyle = #"""
        .bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem 1rem; padding-block-end: 0.75rem; }
        #crumbs { flex: 1 1 16rem; min-inline-size: 0; }
        #crumb-list { display: flex; flex-wrap: wrap; align-items: center; font-weight: 550; }
        #crumb-list li { display: flex; align-items: center; min-inline-size: 0; max-inline-size: 100%; gap: 0.375rem; }
        #crumb-list li + li::before {
            content: "/" / "";
            color: var(--edge);
            font-weight: 400;
            padding-inline: 0.125rem;
        }
        #crumb-list a, #place {
            padding: 0.25rem 0.375rem;
            border-radius: 0.5rem;
            overflow: hidden;
            text-overflow: ellipsis;
            white-space: pre;
        }
        #crumb-list a {
            display: inline-flex;
            align-items: center;
            gap: 0.375rem;
            color: var(--accent);
            text-decoration: none;
        }
        #crumb-list a:hover { background: var(--accent-wash); }
        .tools { display: flex; flex-wrap: wrap; gap: 0.5rem; }

        .card {
            position: relative;
            border: 1px solid var(--line);
            border-radius: 0.875rem;
            background: var(--surface);
            overflow: clip;
        }
        .card:focus { outline: none; }

        .row {
            display: grid;
            grid-template-columns: 3rem minmax(0, 1fr) 6.5rem 8.5rem;
            align-items: center;
            min-block-size: 2.875rem;
            padding-inline-end: 1rem;
        }
        .rows .row {
            cursor: default;
            content-visibility: auto;
            contain-intrinsic-size: auto 2.875rem;
            scroll-margin-block: 3.5rem 5rem;
        }
        .rows .row + .row { border-block-start: 1px solid var(--line); }
        .rows .row:hover { background: var(--well); }
        .rows .row[aria-selected="true"] { background: var(--accent-wash); }
        .rows .row:focus-visible { outline-offset: -3px; border-radius: 0.5rem; }
        .row.target, #crumb-list a.target { background: var(--accent-wash); box-shadow: inset 0 0 0 2px var(--accent); }
        .row .check { display: grid; place-items: center; align-self: stretch; }
        .row .name { display: flex; align-items: center; gap: 0.75rem; min-inline-size: 0; }
        .row .label {
            min-inline-size: 0;
            padding-block: 0.5rem;
            overflow: hidden;
            text-overflow: ellipsis;
            white-space: pre;
            text-decoration: none;
        }
        .row a.label:hover { color: var(--accent); text-decoration: underline; text-underline-offset: 0.2em; }
        .row .place {
            flex: 0 1 auto;
            min-inline-size: 4rem;
            color: var(--soft);
            overflow: hidden;
            text-overflow: ellipsis;
            white-space: nowrap;
        }
        .row .rename { flex: 1; min-block-size: 2.25rem; padding-inline: 0.5rem; margin-inline-start: -0.5rem; }
        .row .size, .row .date {
            color: var(--soft);
            font-size: 0.9375rem;
            font-variant-numeric: tabular-nums;
            text-align: end;
            white-space: nowrap;
        }

        .rows .icon { color: var(--soft); }
        .rows .icon.folder { color: var(--accent); fill: var(--accent-wash); }
        .rows .icon.image, .rows .icon.video { color: var(--violet); }
        .rows .icon.audio, .rows .icon.archive { color: var(--warm); }
        .rows .icon.pdf { color: var(--danger); }
        .rows .icon.code, .rows .icon.table { color: var(--cool); }

        .head {
            position: sticky;
            inset-block-start: 0;
            z-index: 1;
            border-block-end: 1px solid var(--line);
            background: var(--surface);
        }
        .head button {
            min-block-size: 2.25rem;
            padding-inline: 0;
            border: 0;
            background: transparent;
            color: var(--soft);
            font-size: 0.875rem;
        }
        .head button:hover { color: var(--ink); }
        .head button::after { content: "▲" / ""; font-size: 0.625rem; opacity: 0; }
        .head [aria-sort="ascending"] button, .head [aria-sort="descending"] button { color: var(--ink); }
        .head [aria-sort="ascending"] button::after { opacity: 1; }
        .head [aria-sort="descending"] button::after { content: "▼" / ""; opacity: 1; }
        .head .size button, .head .date button { flex-direction: row-reverse; }

        .empty {
            display: grid;
            justify-items: center;
            gap: 0.75rem;
            padding: 4rem 1.5rem;
            color: var(--soft);
            text-align: center;
        }
        .empty .icon { inline-size: 3.5rem; block-size: 3.5rem; stroke-width: 1; }
        .empty p { max-inline-size: 30rem; text-wrap: balance; overflow-wrap: anywhere; }
        .cut { padding: 0.75rem 1rem; border-block-start: 1px solid var(--line); color: var(--warm); }
        .status {
            display: flex;
            flex-wrap: wrap;
            justify-content: space-between;
            gap: 0.25rem 1rem;
            padding: 0.625rem 0.25rem;
            color: var(--soft);
            font-size: 0.875rem;
        }

        .busy {
            position: absolute;
            inset-inline: 0;
            inset-block-start: 0;
            block-size: 2px;
            z-index: 2;
            overflow: hidden;
        }
        .busy::after {
            content: "";
            position: absolute;
            inset-block: 0;
            inline-size: 40%;
            background: var(--accent);
            animation: busy 1s 300ms ease-in-out infinite backwards;
        }
        @keyframes busy { from { inset-inline-start: -40%; } to { inset-inline-start: 100%; } }

        .selection {
            position: fixed;
            inset-block-end: max(0.75rem, env(safe-area-inset-bottom));
            inset-inline: 0.875rem;
            z-index: 2;
            display: flex;
            flex-wrap: wrap;
            align-items: center;
            gap: 0.375rem;
            inline-size: fit-content;
            margin-inline: auto;
            padding: 0.5rem;
            border: 1px solid var(--line);
            border-radius: 1rem;
            background: var(--surface);
            box-shadow: 0 0.5rem 2rem var(--shadow);
        }
        .selection button { border-color: transparent; }
        #selected-count { padding-inline-end: 0.5rem; font-weight: 550; font-variant-numeric: tabular-nums; }

        @media (max-width: 52rem) {
            .selection { inline-size: auto; gap: 0; }
            body:has(.selection:not([hidden])) .rows .row { scroll-margin-block-end: 8rem; }
            .selection button {
                flex: 1 1 auto;
                flex-direction: column;
                gap: 0.125rem;
                min-inline-size: 0;
                padding: 0.25rem 0.125rem;
                font-size: 0.75rem;
            }
            #unselect { flex: none; min-inline-size: 2.5rem; }
            #selected-count { flex: 1 0 calc(100% - 3rem); }
        }
        @media (max-width: 40rem) {
            .selection button { font-size: 0.6875rem; }
            .tools { inline-size: 100%; flex-wrap: nowrap; }
            .tools button { flex: 0 0 auto; }
            #upload, #empty-trash { flex: 1 1 auto; }
            #upload-folder > span, #new-folder > span, #show-trash > span {
                position: absolute;
                clip-path: inset(50%);
                inline-size: 1px;
                overflow: hidden;
            }
            .row { grid-template-columns: 2.75rem minmax(0, 1fr) auto; padding-inline-end: 0.75rem; }
            .rows .row {
                min-block-size: 3.75rem;
                contain-intrinsic-size: auto 3.75rem;
                grid-template: "check name name" "check size date" / 2.75rem auto minmax(0, 1fr);
                padding-block: 0.375rem;
            }
            .rows .check { grid-area: check; }
            .rows .name { grid-area: name; }
            .rows .name .label { flex: 1; padding-block: 0.25rem; }
            .rows .size { grid-area: size; padding-inline-start: 2rem; }
            .rows .date { grid-area: date; text-align: start; }
            .rows .size:not(:empty) + .date::before { content: "·" / ""; padding-inline: 0.375rem; }
            .rows .size, .rows .date { font-size: 0.8125rem; line-height: 1.3; }
            .rows .size:empty { padding-inline-start: 2rem; }
            .head .date { display: none; }
            .head .row { min-block-size: 2.5rem; }
        }
        @media (hover: none) { .rows .row:hover:not([aria-selected="true"]) { background: transparent; } }

        """#
}
