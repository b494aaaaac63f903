// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension UploaderPage {
    /// The style of uploads, toasts and dialogs.
    static let panelStyle = #"""
        /* Uploads */

        .uploads {
            position: fixed;
            inset-block-end: max(1rem, env(safe-area-inset-bottom));
            inset-inline-end: 1rem;
            z-index: 3;
            display: flex;
            flex-direction: column;
            inline-size: min(24rem, 100vw - 1.5rem);
            max-block-size: min(28rem, 60dvh);
            border: 1px solid var(--line);
            border-radius: 0.875rem;
            background: var(--surface);
            box-shadow: 0 0.5rem 2rem var(--shadow);
            overflow: hidden;
        }
        .uploads header { display: flex; align-items: center; padding: 0.5rem 0.5rem 0.25rem 1rem; }
        .uploads h2 { flex: 1; font-size: 1rem; font-variant-numeric: tabular-nums; }
        #uploads-progress { flex: none; inline-size: auto; margin-inline: 1rem; }
        #uploads-state { padding: 0.375rem 1rem 0.625rem; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
        #uploads-state:empty { padding: 0.375rem; }
        #uploads-fold[aria-expanded="false"] .icon { transform: rotate(180deg); }
        #upload-items { overflow-y: auto; overscroll-behavior: contain; border-block-start: 1px solid var(--line); }
        #upload-items li {
            display: grid;
            grid-template-columns: minmax(0, 1fr) auto;
            align-items: center;
            gap: 0 0.5rem;
            padding: 0.5rem 0.5rem 0.5rem 1rem;
        }
        #upload-items li + li { border-block-start: 1px solid var(--line); }
        #upload-items .label { overflow: hidden; text-overflow: ellipsis; white-space: pre; font-size: 0.9375rem; }
        #upload-items .soft {
            grid-column: 1;
            font-size: 0.8125rem;
            overflow-wrap: anywhere;
            font-variant-numeric: tabular-nums;
        }
        #upload-items progress { grid-column: 1; margin-block: 0.25rem; }
        #upload-items .buttons { grid-column: 2; grid-row: 1 / span 3; display: flex; }
        #upload-items [data-state="done"] progress, #upload-items [data-state="skipped"] progress,
        #upload-items [data-state="failed"] progress,
        #upload-items [data-state="asking"] progress,
        #upload-items [data-state="waiting"] progress {
            display: none;
        }
        #upload-items [data-state="failed"] .soft { color: var(--danger); }
        #upload-items [data-state="done"] .soft { color: var(--accent); }
        #upload-items [data-state="retrying"] .soft { color: var(--warm); }
        #upload-items [data-state="interrupted"] { grid-template-columns: minmax(0, 1fr); }
        #upload-items [data-state="interrupted"] .buttons {
            grid-column: 1;
            grid-row: auto;
            justify-content: space-between;
            padding-block-start: 0.25rem;
        }

        /* Toasts */

        .toasts {
            position: fixed;
            inset-block-end: max(1rem, env(safe-area-inset-bottom));
            inset-inline-start: 1rem;
            z-index: 4;
            display: grid;
            gap: 0.5rem;
            inline-size: min(26rem, 100vw - 1.5rem);
            pointer-events: none;
        }
        body:has(.selection:not([hidden])) :is(.toasts, .uploads) { inset-block-end: 5.5rem; }
        body:has(.selection:not([hidden])) footer { padding-block-end: 8rem; }
        body:has(.uploads:not([hidden])) footer { padding-block-end: min(29rem, 62dvh); }
        @media (max-width: 52rem) {
            body:has(.selection:not([hidden])) :is(.toasts, .uploads) { inset-block-end: 7.5rem; }
        }
        .toast {
            display: flex;
            align-items: center;
            gap: 0.625rem;
            padding: 0.375rem 0.375rem 0.375rem 0.875rem;
            border-radius: 0.75rem;
            background: var(--ink);
            color: var(--page);
            box-shadow: 0 0.5rem 1.5rem var(--shadow);
            pointer-events: auto;
            animation: rise 160ms ease-out;
        }
        @keyframes rise { from { opacity: 0; transform: translateY(0.5rem); } }
        .toast p { flex: 1; min-inline-size: 0; overflow-wrap: anywhere; padding-block: 0.375rem; line-height: 1.35; }
        .toast button { border-color: transparent; background: transparent; color: inherit; }
        .toast button:hover { background: var(--soft); color: var(--page); }
        .toast .undo { text-decoration: underline; text-underline-offset: 0.2em; }
        .toast.error { background: var(--danger); color: var(--surface); }
        .toast :focus-visible { outline-color: currentColor; outline-offset: -3px; }

        /* Where a drop goes */

        .drop {
            position: fixed;
            inset: 0.75rem;
            z-index: 4;
            display: grid;
            place-items: center;
            border: 3px dashed var(--accent);
            border-radius: 1rem;
            background: color-mix(in srgb, var(--accent-wash) 80%, transparent);
            color: var(--accent);
            font-size: 1.25rem;
            font-weight: 620;
            pointer-events: none;
        }
        .drop p {
            display: flex;
            align-items: center;
            gap: 0.75rem;
            padding: 1rem 1.5rem;
            border-radius: 1rem;
            background: var(--surface);
            box-shadow: 0 0.5rem 2rem var(--shadow);
            overflow-wrap: anywhere;
        }
        .drop.aside { place-items: end center; background: transparent; }
        .drop .icon { inline-size: 1.75rem; block-size: 1.75rem; }

        /* Dialogs */

        dialog {
            inline-size: min(30rem, 100vw - 1.5rem);
            max-block-size: calc(100dvh - 1.5rem);
            padding: 1.25rem;
            border: 1px solid var(--line);
            border-radius: 1rem;
            background: var(--surface);
            color: var(--ink);
            box-shadow: 0 1rem 3rem var(--shadow);
        }
        dialog[open] { display: flex; flex-direction: column; gap: 0.875rem; }
        dialog::backdrop { background: var(--veil); }
        dialog form { display: grid; gap: 0.5rem; }
        dialog h2 { overflow-wrap: anywhere; }
        .actions {
            display: flex;
            flex-wrap: wrap;
            justify-content: flex-end;
            gap: 0.5rem;
            padding-block-start: 0.25rem;
        }
        .actions .aside { margin-inline-end: auto; }
        .actions .solid { border-color: var(--danger); background: var(--danger); color: var(--surface); }
        .choice { display: flex; align-items: center; gap: 0.5rem; }
        .fault { color: var(--danger); font-size: 0.9375rem; }
        .fault:empty { display: none; }
        .keys { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.5rem 1.25rem; overflow-y: auto; }

        .place[role="status"] { font-weight: 550; }
        .picker {
            min-block-size: 8rem;
            max-block-size: 18rem;
            overflow-y: auto;
            padding: 0.25rem;
            border: 1px solid var(--line);
            border-radius: 0.75rem;
            background: var(--well);
        }
        .picker button {
            inline-size: 100%;
            justify-content: flex-start;
            border-color: transparent;
            background: transparent;
            font-weight: 450;
        }
        .picker button:hover { background: var(--accent-wash); }
        .picker span { overflow: hidden; text-overflow: ellipsis; white-space: pre; }
        .picker .icon { color: var(--accent); }
        .picker li.soft { padding: 0.75rem; }
        .picker :focus-visible { outline-offset: -3px; }

        dialog.preview {
            inline-size: min(68rem, 100vw - 1.5rem);
            block-size: min(52rem, 100dvh - 1.5rem);
            padding: 0.75rem 1rem 1rem;
        }
        .preview .head { position: static; display: flex; align-items: center; gap: 0.375rem; border: 0; }
        .preview h2 { flex: 1; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: pre; }
        .preview .count { white-space: nowrap; font-size: 0.9375rem; }
        .preview .stage {
            flex: 1;
            min-block-size: 0;
            display: grid;
            place-items: center;
            border-radius: 0.75rem;
            background: var(--well);
            overflow: hidden;
        }
        .stage img, .stage video { max-inline-size: 100%; max-block-size: 100%; object-fit: contain; }
        .stage audio { inline-size: min(30rem, 90%); }
        .stage iframe { inline-size: 100%; block-size: 100%; border: 0; background: var(--surface); }
        .stage .text {
            inline-size: 100%;
            block-size: 100%;
            margin: 0;
            padding: 1rem;
            overflow: auto;
            font: 0.875rem/1.6 var(--mono);
            white-space: pre-wrap;
            overflow-wrap: anywhere;
            tab-size: 4;
        }
        .stage .text:focus-visible { outline-offset: -3px; }
        .stage .nothing {
            display: grid;
            justify-items: center;
            gap: 0.75rem;
            padding: 2rem;
            color: var(--soft);
            text-align: center;
        }
        .stage .nothing .icon { inline-size: 4rem; block-size: 4rem; stroke-width: 1; }
        .facts { font-size: 0.875rem; overflow-wrap: anywhere; }

        @media (max-width: 40rem) {
            .uploads { inset-inline: 0.75rem; }
            .toasts { inset-inline: 0.75rem; }
            .uploads { max-block-size: 45dvh; }
            body:has(.uploads:not([hidden])) .toasts { inset-block: 0.75rem auto; }
            .preview .count, .preview .button span { display: none; }
            dialog.preview { padding: 0.5rem 0.75rem 0.75rem; }
            .actions button { flex: 1 1 auto; }
        }

        """#
}
