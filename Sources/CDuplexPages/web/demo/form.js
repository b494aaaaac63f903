// SPDX-License-Identifier: Apache-2.0
// The form.

import { byId, make } from "./dom.js";
import { formatSize } from "./format.js";
import { Log } from "./log.js";
import { t } from "./texts.js";

class FormPanel {
    #log = new Log(byId("form-log"));

    constructor() {
        const form = byId("form-form");
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            const isInParts = event.submitter?.formEnctype === "multipart/form-data";
            this.#send(new FormData(form), isInParts);
        });
    }

    async #send(data, isInParts) {
        const body = isInParts
            ? data
            : new URLSearchParams(
                  [...data].map(([name, value]) => {
                      return [name, typeof value === "string" ? value : value.name];
                  }),
              );
        try {
            const headers = { Accept: "application/json" };
            const response = await fetch("/demo/form", { method: "POST", body, headers });
            if (!response.ok) return this.#log.note(t("formRefused", { status: response.status }));
            this.#show(await response.json());
        } catch {
            this.#log.note(t("connectionLost"));
        }
    }

    #show({ kind, fields }) {
        this.#log.note(t("fields", { count: `${fields.length}`, kind }));
        for (const { name, value, filename, type, bytes } of fields) {
            const text = filename === undefined ? value : t("fieldFile", { name: filename, type });
            this.#log.add(
                "received",
                make("code", { class: "name", text: name }),
                make("span", { class: "body", text }),
                make("span", { class: "meta", text: formatSize(bytes) }),
            );
        }
    }
}

new FormPanel();
