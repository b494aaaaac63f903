// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// The frame that the parts are shown in.
    static let html = #"""
        <!DOCTYPE html>
        <html lang="en">
        <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <title>Inspector</title>
            <link rel="icon" href="assets/icon.svg">
            <link rel="stylesheet" href="assets/theme.css">
            <link rel="stylesheet" href="assets/inspector.css">
            <link rel="stylesheet" href="assets/connections.css">
            <link rel="stylesheet" href="assets/console.css">
            <link rel="stylesheet" href="assets/machine.css">
            <link rel="stylesheet" href="assets/databases.css">
            <link rel="stylesheet" href="assets/files.css">
            <link rel="stylesheet" href="assets/values.css">
            <link rel="stylesheet" href="assets/views.css">
            <link rel="stylesheet" href="assets/recordings.css">
            <script type="module" src="assets/app.js"></script>
        </head>
        <body class="inspector">
            <a class="button skip" href="#main">Skip to the content</a>
            <header class="bar">
                <img src="assets/icon.svg" alt="" width="28" height="28">
                <h1 id="title">Inspector</h1>
                <span class="link" id="link" role="status">connecting</span>
            </header>
            <nav class="parts" id="parts" aria-label="Parts"></nav>
            <main id="main" tabindex="-1" aria-labelledby="part-title"></main>
            <div class="toasts" id="toasts"></div>
            <p class="spoken" id="live" role="status" aria-live="polite"></p>
            <noscript><p class="notice">The inspector needs scripts.</p></noscript>
        </body>
        </html>

        """#
}
