// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension PageParts {
    /// The style of colours, controls and frame: light and dark by the viewer's wish.
    package static let themeStyle = #"""
        :root {
            color-scheme: light dark;
            --page: #f5f7f6;
            --surface: #ffffff;
            --well: #eef2f0;
            --ink: #14201d;
            --soft: #566561;
            --line: #dde4e1;
            --edge: #7f8f8a;
            --accent: #0b6a5d;
            --accent-strong: #085247;
            --accent-wash: #e3f1ee;
            --on-accent: #ffffff;
            --danger: #b3261e;
            --danger-wash: #fbe9e7;
            --warm: #8a5a00;
            --cool: #2c5fa8;
            --violet: #7a3fa0;
            --shadow: #14201d2e;
            --veil: #14201d73;
            --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "PingFang SC",
                "Microsoft YaHei", "Noto Sans CJK SC", Arial, sans-serif;
            --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }

        @media (prefers-color-scheme: dark) {
            :root {
                --page: #0e1413;
                --surface: #151d1b;
                --well: #1d2725;
                --ink: #e6edea;
                --soft: #9caca7;
                --line: #27322f;
                --edge: #64756f;
                --accent: #6cd3bf;
                --accent-strong: #93e2d2;
                --accent-wash: #17302b;
                --on-accent: #06231e;
                --danger: #ff9d94;
                --danger-wash: #3a1b19;
                --warm: #e8b75c;
                --cool: #8db8f5;
                --violet: #cf9df0;
                --shadow: #00000099;
                --veil: #000000a6;
            }
        }

        *, *::before, *::after { box-sizing: border-box; }
        [hidden] { display: none !important; }

        body {
            min-block-size: 100dvh;
            margin: 0;
            padding: 0 clamp(0.75rem, 4vw, 3rem) env(safe-area-inset-bottom);
            display: flex;
            flex-direction: column;
            background: var(--page);
            color: var(--ink);
            font: 1rem/1.5 var(--sans);
            -webkit-text-size-adjust: 100%;
        }

        h1, h2, p, dl, dd, ol, ul { margin: 0; padding: 0; }
        ol, ul { list-style: none; }
        h1 {
            font-size: 1.375rem;
            line-height: 1.2;
            font-weight: 650;
            letter-spacing: -0.02em;
            overflow-wrap: anywhere;
        }
        h2 { font-size: 1.0625rem; line-height: 1.3; font-weight: 620; }
        a { color: inherit; }
        .soft { color: var(--soft); }
        .wrapping { overflow-wrap: anywhere; }

        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

        .spoken {
            position: absolute;
            inline-size: 1px;
            block-size: 1px;
            overflow: hidden;
            clip-path: inset(50%);
            white-space: nowrap;
        }

        .skip { position: absolute; inset-inline-start: 1rem; inset-block-start: -5rem; z-index: 5; }
        .skip:focus { inset-block-start: 0.5rem; }

        .icon {
            flex: none;
            inline-size: 1.25rem;
            block-size: 1.25rem;
            fill: none;
            stroke: currentColor;
            stroke-width: 1.75;
            stroke-linecap: round;
            stroke-linejoin: round;
        }

        /* Controls */

        button, .button, input, select { font: inherit; color: inherit; border-radius: 0.625rem; }
        button, .button {
            display: inline-flex;
            align-items: center;
            justify-content: center;
            gap: 0.5rem;
            min-block-size: 2.5rem;
            min-inline-size: 2.5rem;
            padding: 0.375rem 0.75rem;
            border: 1px solid var(--edge);
            background: var(--surface);
            font-weight: 550;
            text-decoration: none;
            white-space: nowrap;
            cursor: pointer;
            transition: background-color 120ms ease, border-color 120ms ease;
        }
        button:hover, .button:hover { border-color: var(--accent); background: var(--accent-wash); }
        .primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
        .primary:hover { border-color: var(--accent-strong); background: var(--accent-strong); }
        .quiet { padding: 0.375rem 0.5rem; border-color: transparent; background: transparent; color: var(--soft); }
        .quiet:hover { border-color: transparent; color: var(--ink); }
        .danger { color: var(--danger); }
        .danger:hover { border-color: var(--danger); background: var(--danger-wash); }

        input[type="text"], input[type="search"], select {
            min-inline-size: 0;
            min-block-size: 2.5rem;
            padding: 0.375rem 0.75rem;
            border: 1px solid var(--edge);
            background: var(--surface);
        }
        input[type="text"]:focus-visible, input[type="search"]:focus-visible {
            border-color: var(--accent);
            outline-offset: 0;
        }
        input[type="checkbox"] { inline-size: 1.125rem; block-size: 1.125rem; margin: 0; accent-color: var(--accent); }
        progress {
            inline-size: 100%;
            block-size: 0.375rem;
            border: 0;
            border-radius: 1rem;
            overflow: hidden;
            background: var(--line);
            accent-color: var(--accent);
        }
        progress::-webkit-progress-bar { background: var(--line); }
        progress::-webkit-progress-value {
            background: var(--accent);
            border-radius: 1rem;
            transition: inline-size 200ms linear;
        }
        progress::-moz-progress-bar { background: var(--accent); }
        kbd {
            padding: 0.125rem 0.375rem;
            border: 1px solid var(--line);
            border-radius: 0.375rem;
            background: var(--well);
            font: 0.8125rem/1.5 var(--mono);
        }

        /* The frame */

        .masthead, main, footer, .notice { inline-size: 100%; max-inline-size: 72rem; margin-inline: auto; }
        .masthead {
            display: flex;
            flex-wrap: wrap;
            align-items: center;
            gap: 0.75rem 1rem;
            padding-block: 1.5rem 1rem;
        }
        #logo:empty, .lede:empty, .prologue:empty, .epilogue:empty, footer > p:empty { display: none; }
        #logo img {
            display: block;
            block-size: 2.75rem;
            max-inline-size: 10rem;
            border-radius: 0.5rem;
            object-fit: contain;
        }
        .titles { flex: 1 1 12rem; min-inline-size: 0; }
        .lede { color: var(--soft); }
        .prologue { padding-block-end: 1rem; white-space: pre-line; }
        .epilogue { padding-block-start: 1rem; color: var(--soft); white-space: pre-line; }
        .notice {
            padding: 0.75rem 1rem;
            margin-block-end: 1rem;
            border: 1px solid var(--warm);
            border-radius: 0.75rem;
            color: var(--warm);
        }

        #search-form { position: relative; flex: 0 1 20rem; color: var(--soft); }
        #search-form .icon {
            position: absolute;
            inset-inline-start: 0.75rem;
            inset-block-start: 0.625rem;
            pointer-events: none;
        }
        #search-form input { inline-size: 100%; padding-inline-start: 2.5rem; color: var(--ink); }
        #search-form input::placeholder { color: var(--soft); opacity: 1; }

        main { flex: 1; }
        footer {
            display: flex;
            flex-wrap: wrap;
            align-items: center;
            gap: 0.5rem 1.5rem;
            padding-block: 2rem 1.5rem;
            color: var(--soft);
            font-size: 0.9375rem;
        }
        footer > p { flex: 1 1 100%; white-space: pre-line; }
        footer select { color: var(--ink); }
        .language { display: inline-flex; align-items: center; gap: 0.5rem; }

        @media (max-width: 40rem) {
            .masthead { padding-block: 1rem 0.75rem; }
            #search-form { flex: 1 1 100%; }
            #keys { display: none; }
        }

        @media (prefers-reduced-motion: reduce) {
            *, *::before, *::after { transition: none !important; animation: none !important; }
        }

        """#
}
