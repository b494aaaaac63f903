// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension DemoPage {
    /// The sections of the markup for what isn't a WebSocket: events, an upload, a form, the last requests.
    static let exchangesHTML = #"""
                <section class="panel" id="events" aria-labelledby="events-title">
                    <div class="panel-head">
                        <h2 id="events-title">Server-sent events</h2>
                        <button type="button" id="events-toggle">Connect</button>
                        <p class="lede">Each stream ends after ten events. The browser comes back for those behind.</p>
                    </div>
                    <div class="link">
                        <p class="state" id="events-state" role="status">Not connected</p>
                        <code>/events</code>
                        <p class="people" id="events-returns">Not come back yet</p>
                    </div>
                    <div class="log short" id="events-log" role="log" aria-live="polite" aria-label="Events"
                        tabindex="0" data-empty="Events appear here, with the Last-Event-ID that the server got."></div>
                </section>

                <section class="panel" id="requests" aria-labelledby="requests-title">
                    <div class="panel-head">
                        <h2 id="requests-title">The last requests</h2>
                        <button type="button" id="requests-toggle">Connect</button>
                        <p class="lede">What the server has answered, as events of one feed for everybody.</p>
                    </div>
                    <div class="link">
                        <p class="state" id="requests-state" role="status">Not connected</p>
                        <code>/demo/log</code>
                    </div>
                    <div class="log short" id="requests-log" role="log" aria-live="polite" aria-label="Requests"
                        tabindex="0" data-empty="Requests appear here once their responses have gone."></div>
                </section>

                <section class="panel" id="upload" aria-labelledby="upload-title">
                    <div class="panel-head">
                        <h2 id="upload-title">Upload</h2>
                        <p class="lede">The server counts the bytes as they come, and keeps none of them.</p>
                    </div>
                    <form id="upload-form" autocomplete="off">
                        <div class="field">
                            <label for="upload-file">File</label>
                            <input id="upload-file" type="file" required>
                        </div>
                        <progress id="upload-progress" value="0" max="1" aria-label="Sent"></progress>
                        <p class="state" id="upload-state" role="status">Nothing sent yet</p>
                        <div class="actions">
                            <button type="submit" class="primary" id="upload-send">Upload</button>
                            <button type="button" id="upload-stop">Stop</button>
                        </div>
                    </form>
                </section>

                <section class="panel" id="form" aria-labelledby="form-title">
                    <div class="panel-head">
                        <h2 id="form-title">Form</h2>
                        <p class="lede">What the server makes of it, whatever you type.</p>
                    </div>
                    <form id="form-form" method="post" action="/demo/form" autocomplete="off">
                        <div class="field">
                            <label for="form-text">Text</label>
                            <input id="form-text" name="text" type="text" value="&lt;b&gt;Grüße&lt;/b&gt; &amp; more">
                        </div>
                        <div class="field">
                            <label for="form-file">File, whose content goes in a part only</label>
                            <input id="form-file" name="file" type="file">
                        </div>
                        <div class="actions">
                            <button type="submit" class="primary" id="form-send">Send as fields</button>
                            <button type="submit" id="form-send-parts" formenctype="multipart/form-data">
                                Send as parts</button>
                        </div>
                    </form>
                    <div class="log short" id="form-log" role="log" aria-live="polite" aria-label="What the server saw"
                        tabindex="0" data-empty="The server's view of the form appears here."></div>
                </section>

        """#
}
