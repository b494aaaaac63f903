// SPDX-License-Identifier: Apache-2.0
import { make } from "./dom.js";
import { formatTime } from "./format.js";
import { t } from "./texts.js";

// A list of messages with a bounded number of rows, which follows its end unless the reader has scrolled away.
export class Log {
    static limit = 200;
    static spoken = { sent: t("spokenSent"), received: t("spokenReceived"), note: "" };
    #element;

    constructor(element) {
        this.#element = element;
    }

    add(direction, ...parts) {
        const follows = this.#isAtEnd;
        const row = make("div", { class: "row" });
        row.dataset.direction = direction;
        row.append(make("span", { class: "spoken", text: Log.spoken[direction] }), ...parts);
        this.#element.append(row);
        while (this.#element.childElementCount > Log.limit) this.#element.firstElementChild.remove();
        if (follows) this.#element.scrollTop = this.#element.scrollHeight;
        return row;
    }

    note(text) {
        this.add(
            "note",
            make("span", { class: "body", text }),
            make("span", { class: "meta", text: formatTime(new Date()) }),
        );
    }

    clear() {
        this.#element.replaceChildren();
    }

    get #isAtEnd() {
        const { scrollHeight, scrollTop, clientHeight } = this.#element;
        return scrollHeight - scrollTop - clientHeight < 32;
    }
}
