// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension DemoPage {
    /// The style sheet: system fonts, one accent colour, spacing in steps of 4 px, light and dark.
    ///
    /// Text has a contrast of 4.5:1 at least and the edges of controls of 3:1 (WCAG 2.2, 1.4.3 and 1.4.11).
    static let style = themeStyle + layoutStyle + controlStyle

    private static let themeStyle = #"""
        :root {
            color-scheme: light dark;
            --page: #f5f7f6;
            --surface: #ffffff;
            --well: #f5f7f6;
            --ink: #14201d;
            --soft: #566561;
            --line: #dde4e1;
            --edge: #7f8f8a;
            --accent: #0b6a5d;
            --accent-strong: #085247;
            --accent-wash: #e3f1ee;
            --on-accent: #ffffff;
            --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
            --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }

        @media (prefers-color-scheme: dark) {
            :root {
                --page: #0e1413;
                --surface: #151d1b;
                --well: #101715;
                --ink: #e6edea;
                --soft: #9caca7;
                --line: #27322f;
                --edge: #64756f;
                --accent: #6cd3bf;
                --accent-strong: #93e2d2;
                --accent-wash: #17302b;
                --on-accent: #06231e;
            }
        }

        *, *::before, *::after { box-sizing: border-box; }

        body {
            margin: 0;
            padding: 0 clamp(0.75rem, 4vw, 3rem);
            background: var(--page);
            color: var(--ink);
            font: 1rem/1.5 var(--sans);
            -webkit-text-size-adjust: 100%;
        }

        h1, h2, p, dl, dd { margin: 0; }
        h1 { font-size: 2rem; line-height: 1.1; font-weight: 650; letter-spacing: -0.03em; }
        h2 { font-size: 1.375rem; line-height: 1.2; font-weight: 620; letter-spacing: -0.015em; }
        code { font-family: var(--mono); font-size: 0.8125rem; }

        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        section:focus { outline: none; }
        section:focus-visible { outline: 3px solid var(--accent); }

        .skip {
            position: absolute;
            inset-inline-start: 1rem;
            inset-block-start: -4rem;
            padding: 0.5rem 1rem;
            border-radius: 0.5rem;
            background: var(--accent);
            color: var(--on-accent);
        }
        .skip:focus { inset-block-start: 1rem; }

        .spoken {
            position: absolute;
            inline-size: 1px;
            block-size: 1px;
            overflow: hidden;
            clip-path: inset(50%);
            white-space: nowrap;
        }

        """#

    private static let layoutStyle = #"""
        .masthead, main, footer, .notice { max-inline-size: 78rem; margin-inline: auto; }

        .masthead {
            display: grid;
            grid-template-columns: auto minmax(0, 1fr);
            align-items: center;
            gap: 0.5rem 1.25rem;
            padding-block: 2rem;
        }
        .masthead p { grid-column: 1 / -1; color: var(--soft); font-size: 1.0625rem; text-wrap: balance; }
        @media (min-width: 40rem) {
            .masthead img { grid-row: span 2; }
            .masthead p { grid-column: 2; }
        }

        .notice { padding: 1rem; border: 1px solid var(--edge); border-radius: 0.75rem; margin-block-end: 1.5rem; }

        main { --log-size: 16rem; display: grid; gap: 1.5rem; grid-template-columns: minmax(0, 1fr); }
        @media (min-width: 60rem) {
            main {
                --log-size: clamp(14rem, 100vh - 36rem, 32rem);
                grid-template-columns: minmax(0, 6fr) minmax(0, 5fr);
            }
        }

        .panel {
            display: flex;
            flex-direction: column;
            gap: 1rem;
            padding: clamp(1rem, 4vw, 1.75rem);
            border: 1px solid var(--line);
            border-radius: 1rem;
            background: var(--surface);
        }
        .panel-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem; color: var(--soft); }
        .panel-head h2 { color: var(--ink); }
        .panel-head button { margin-inline-start: auto; color: var(--ink); }
        .lede { flex-basis: 100%; margin-block-start: 0.125rem; }
        .people { margin-inline-start: auto; font-variant-numeric: tabular-nums; }
        @media (max-width: 30rem) { .people { flex-basis: 100%; } }

        .link { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1rem; font-size: 0.9375rem; }
        .link code { color: var(--soft); overflow-wrap: anywhere; }

        .state { display: flex; align-items: baseline; gap: 0.5rem; overflow-wrap: anywhere; }
        .state::before {
            content: "";
            flex: none;
            inline-size: 0.625rem;
            block-size: 0.625rem;
            border: 2px solid var(--edge);
            border-radius: 50%;
        }
        .state[data-state="open"]::before { border-color: var(--accent); background: var(--accent); }
        .state[data-state="connecting"]::before, .state[data-state="closing"]::before {
            border-color: var(--accent);
            animation: breathe 1.2s ease-in-out infinite alternate;
        }
        @keyframes breathe { to { opacity: 0.25; } }
        @media (prefers-reduced-motion: reduce) {
            *, *::before { animation: none !important; transition: none !important; }
        }

        .measures { display: grid; gap: 0.75rem; }
        dl { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); align-items: end; gap: 0.75rem 1rem; }
        @media (min-width: 40rem) { dl { grid-template-columns: minmax(0, 1fr) auto auto auto; column-gap: 2rem; } }
        dt { color: var(--soft); font-size: 0.8125rem; }
        dd { font-variant-numeric: tabular-nums; }
        .lead dd {
            font-size: clamp(2rem, 6vw, 2.5rem);
            font-weight: 300;
            line-height: 1.1;
            letter-spacing: -0.03em;
            white-space: nowrap;
        }

        #echo-sparkline {
            display: block;
            inline-size: 100%;
            block-size: 2.5rem;
            border-block-end: 1px solid var(--line);
        }
        #echo-sparkline .bar { fill: var(--accent); opacity: 0.4; }
        #echo-sparkline .bar:last-of-type { opacity: 1; }

        .log {
            flex: 1 1 var(--log-size);
            min-block-size: var(--log-size);
            overflow: auto;
            overscroll-behavior: contain;
            padding: 0.5rem 1rem;
            border: 1px solid var(--line);
            border-radius: 0.75rem;
            background: var(--well);
            font-size: 0.9375rem;
        }
        .log:empty::before { content: attr(data-empty); display: block; padding-block: 0.5rem; color: var(--soft); }

        .log.short { --log-size: 12rem; }

        .row { display: flex; flex-wrap: wrap; gap: 0 0.75rem; padding-block: 0.375rem; }
        .row + .row { border-block-start: 1px solid var(--line); }
        .row .body { flex: 1 1 10rem; min-inline-size: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
        .row .meta { color: var(--soft); font-size: 0.8125rem; line-height: 1.7; font-variant-numeric: tabular-nums; }
        .row .body.bytes { font: 0.8125rem/1.75 var(--mono); }
        .row .body.empty { font-style: italic; color: var(--soft); }

        #echo-log .row { display: grid; grid-template-columns: 0.875rem minmax(0, 1fr); }
        #echo-log .row .meta { grid-column: 2; }
        @media (min-width: 40rem) {
            #echo-log .row { grid-template-columns: 0.875rem minmax(0, 1fr) auto; }
            #echo-log .row .meta { grid-column: 3; }
        }
        #echo-log .row::before { color: var(--soft); content: "·" / ""; }
        #echo-log .row[data-direction="sent"]::before { content: "↑" / ""; }
        #echo-log .row[data-direction="received"]::before { color: var(--accent); content: "↓" / ""; }
        .row[data-direction="note"] .body { color: var(--soft); }

        .chat .row { justify-content: space-between; padding-block: 0.625rem; }
        .chat .row .name { font-weight: 620; overflow-wrap: anywhere; min-inline-size: 0; }
        .chat .row[data-mine] .name { color: var(--accent); }
        .chat .row[data-direction="received"] .body { flex-basis: 100%; }

        footer { padding-block: 2rem 3rem; color: var(--soft); font-size: 0.9375rem; }
        footer code { color: var(--ink); overflow-wrap: anywhere; }

        """#

    private static let controlStyle = #"""
        form { display: grid; gap: 1rem; }
        .field { display: grid; gap: 0.375rem; min-inline-size: 0; }
        .fields { display: grid; gap: 1rem; }
        @media (min-width: 30rem) { .fields { grid-template-columns: 10rem minmax(0, 1fr); } }
        label { font-size: 0.875rem; font-weight: 550; }

        input, button { font: inherit; color: inherit; min-block-size: 2.75rem; border-radius: 0.625rem; }
        input {
            inline-size: 100%;
            padding: 0.5rem 0.875rem;
            border: 1px solid var(--edge);
            background: var(--surface);
        }
        input:focus-visible { border-color: var(--accent); outline-offset: 0; }

        progress { inline-size: 100%; block-size: 0.75rem; accent-color: var(--accent); }
        input[type="file"] { min-inline-size: 0; padding-block: 0.375rem; }

        .actions { display: flex; flex-wrap: wrap; gap: 0.5rem; }
        button {
            padding: 0.5rem clamp(0.75rem, 3vw, 1rem);
            border: 1px solid var(--edge);
            background: transparent;
            font-weight: 550;
            white-space: nowrap;
            cursor: pointer;
            transition: background-color 120ms ease, border-color 120ms ease;
        }
        @media (max-width: 30rem) {
            h2 { font-size: 1.25rem; }
            button { font-size: 0.9375rem; }
            .actions button { flex: 1 1 auto; }
        }
        button:hover { border-color: var(--accent); background: var(--accent-wash); }
        button.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
        button.primary:hover { border-color: var(--accent-strong); background: var(--accent-strong); }
        button.quiet { border-color: transparent; margin-inline-start: auto; color: var(--soft); }
        button.quiet:hover { border-color: var(--edge); color: var(--ink); }
        button[data-action="reconnect"] { border-color: var(--accent); color: var(--accent); }
        button[aria-disabled="true"] {
            border-color: var(--line);
            background: transparent;
            color: var(--soft);
            cursor: default;
        }

        """#
}
