// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension DemoPage {
    /// The markup, which the script fills in by the ids.
    static let html = socketsHTML + exchangesHTML + footHTML

    /// The head, and the sections of the two WebSockets.
    private static let socketsHTML = #"""
        <!doctype html>
        <html lang="en">
        <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>Duplex: what the server can do</title>
            <link rel="icon" href="/demo/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/demo/duplex.css">
            <script type="module" src="/demo/duplex.js"></script>
        </head>
        <body>
            <a class="skip" href="#chat">Skip to the chat room</a>

            <header class="masthead">
                <img src="/demo/icon.svg" alt="" width="48" height="48">
                <h1>Duplex</h1>
                <p>Full-duplex networking for Swift: sockets, WebSockets and an embedded server on one event loop.</p>
            </header>

            <noscript><p class="notice">This page needs JavaScript to open its WebSockets; the form works
                without.</p></noscript>

            <main>
                <section class="panel" id="echo" aria-labelledby="echo-title">
                    <div class="panel-head">
                        <h2 id="echo-title">Echo</h2>
                        <button type="button" id="echo-toggle">Connect</button>
                        <p class="lede">What you send comes back, byte for byte.</p>
                    </div>
                    <div class="link">
                        <p class="state" id="echo-state" role="status">Not connected</p>
                        <code id="echo-url">/echo</code>
                    </div>

                    <div class="measures">
                        <dl>
                            <div class="lead">
                                <dt>Round trip</dt>
                                <dd id="echo-rtt">–</dd>
                            </div>
                            <div>
                                <dt>Median</dt>
                                <dd id="echo-median">–</dd>
                            </div>
                            <div>
                                <dt>Sent</dt>
                                <dd id="echo-sent">0</dd>
                            </div>
                            <div>
                                <dt>Received</dt>
                                <dd id="echo-received">0</dd>
                            </div>
                        </dl>
                        <svg id="echo-sparkline" role="img" aria-label="No round trips yet" viewBox="0 0 40 20"
                            preserveAspectRatio="none"></svg>
                    </div>

                    <div class="log" id="echo-log" role="log" aria-live="polite" aria-label="Echo messages" tabindex="0"
                        data-empty="Messages appear here, with their time and size."></div>

                    <form id="echo-form" autocomplete="off" novalidate>
                        <div class="field">
                            <label for="echo-input">Message</label>
                            <input id="echo-input" type="text" value="Hello, Duplex" autocapitalize="off"
                                spellcheck="false" enterkeyhint="send">
                        </div>
                        <div class="actions">
                            <button type="submit" class="primary" id="echo-send">Send text</button>
                            <button type="button" id="echo-send-binary">Send bytes</button>
                            <button type="button" id="echo-measure">Measure 20 trips</button>
                            <button type="button" class="quiet" id="echo-clear" aria-label="Clear the echo messages">
                                Clear</button>
                        </div>
                    </form>
                </section>

                <section class="panel" id="chat" aria-labelledby="chat-title" tabindex="-1">
                    <div class="panel-head">
                        <h2 id="chat-title">Chat room</h2>
                        <button type="button" id="chat-toggle">Connect</button>
                        <p class="lede">Open this page twice, or on two machines.</p>
                    </div>
                    <div class="link">
                        <p class="state" id="chat-state" role="status">Not connected</p>
                        <code id="chat-url">/chat</code>
                        <p class="people" id="chat-people">Not in the room</p>
                    </div>

                    <div class="log chat" id="chat-log" role="log" aria-live="polite" aria-label="Chat messages"
                        tabindex="0" data-empty="Nobody has said anything since you came in."></div>

                    <form id="chat-form" autocomplete="off">
                        <div class="fields">
                            <div class="field name">
                                <label for="chat-name">Your name</label>
                                <input id="chat-name" type="text" required maxlength="32" pattern=".*\S.*"
                                    title="A name of up to 32 characters" spellcheck="false" enterkeyhint="next">
                            </div>
                            <div class="field">
                                <label for="chat-input">Message</label>
                                <input id="chat-input" type="text" required maxlength="500" pattern=".*\S.*"
                                    title="A message of up to 500 characters" enterkeyhint="send">
                            </div>
                        </div>
                        <div class="actions">
                            <button type="submit" class="primary" id="chat-send">Send</button>
                            <button type="button" class="quiet" id="chat-clear" aria-label="Clear the chat messages">
                                Clear</button>
                        </div>
                    </form>
                </section>

        """#

    private static let footHTML = #"""
            </main>

            <footer>
                <p>Served by <code>duplex serve</code>. Also try <code id="ping-command">duplex ping</code></p>
            </footer>
        </body>
        </html>

        """#
}
