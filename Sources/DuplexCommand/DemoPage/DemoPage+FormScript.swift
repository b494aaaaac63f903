// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension DemoPage {
    /// The part of the script that sends files and forms.
    static let formScript = uploadPanelScript + formPanelScript

    private static let uploadPanelScript = #"""
        // One upload at a time. Only XMLHttpRequest tells how much of a body has gone.
        class UploadPanel {
            #request = null;
            #startedAt = 0;
            #progress = byId("upload-progress");
            #state = byId("upload-state");

            constructor() {
                byId("upload-form").addEventListener("submit", (event) => {
                    event.preventDefault();
                    const [file] = byId("upload-file").files;
                    if (file && this.#request === null) this.#send(file);
                });
                byId("upload-stop").addEventListener("click", () => this.#request?.abort());
            }

            #send(file) {
                const request = new XMLHttpRequest();
                request.upload.addEventListener("progress", (event) => this.#show(event));
                request.addEventListener("load", () => this.#loaded(request, file));
                request.addEventListener("error", () => this.#end("closed", "Failed: the connection was lost."));
                request.addEventListener("abort", () => this.#end("closed", "Stopped."));
                request.open("POST", "/demo/upload");
                request.setRequestHeader("Content-Type", "application/octet-stream");
                this.#request = request;
                this.#startedAt = performance.now();
                this.#progress.value = 0;
                this.#tell("connecting", "Sending");
                request.send(file);
            }

            #show({ loaded, total }) {
                this.#progress.value = total === 0 ? 1 : loaded / total;
                this.#tell("connecting", `Sent ${formatSize(loaded)} of ${formatSize(total)}`);
            }

            #loaded(request, file) {
                const duration = performance.now() - this.#startedAt;
                const count = Number(request.responseText);
                if (request.status !== 200 || count !== file.size) {
                    return this.#end("closed", `Failed: ${request.status}, ${request.responseText.trim()}`);
                }
                this.#progress.value = 1;
                const rate = formatSize(Math.round(count / Math.max(duration, 0.1) * 1000));
                const time = formatDuration(duration);
                this.#end("open", `The server has counted ${formatSize(count)} in ${time}, ${rate}/s`);
            }

            #end(state, text) {
                this.#request = null;
                this.#tell(state, text);
            }

            #tell(state, text) {
                this.#state.dataset.state = state;
                this.#state.textContent = text;
            }
        }

        new UploadPanel();


        """#

    private static let formPanelScript = #"""
        class FormPanel {
            #log = new Log(byId("form-log"));

            constructor() {
                byId("form-form").addEventListener("submit", (event) => {
                    event.preventDefault();
                    const isInParts = event.submitter?.formEnctype === "multipart/form-data";
                    this.#send(new FormData(event.target), isInParts);
                });
            }

            async #send(data, isInParts) {
                const body = isInParts ? data : new URLSearchParams([...data].map(([name, value]) => {
                    return [name, typeof value === "string" ? value : value.name];
                }));
                try {
                    const headers = { Accept: "application/json" };
                    const response = await fetch("/demo/form", { method: "POST", body, headers });
                    if (!response.ok) return this.#log.note(`Refused: ${response.status}`);
                    this.#show(await response.json());
                } catch {
                    this.#log.note("Failed: the connection was lost.");
                }
            }

            #show({ kind, fields }) {
                this.#log.note(`${formatCount(fields.length, "field", "fields")} as ${kind}`);
                for (const { name, value, filename, type, bytes } of fields) {
                    const text = filename === undefined ? value : `the file “${filename}”, ${type}`;
                    this.#log.add(
                        "received",
                        make("code", "name", name),
                        make("span", "body", text),
                        make("span", "meta", formatSize(bytes)),
                    );
                }
            }
        }

        new FormPanel();


        """#
}
