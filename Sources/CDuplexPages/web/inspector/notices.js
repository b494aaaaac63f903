// SPDX-License-Identifier: Apache-2.0
// Short notices: seen for some seconds, and read out.

import { byId, make } from "./dom.js";
import { visible } from "./foreign.js";

const time = 6000;

/** Tells something; `kind` is "danger" for what has failed. */
export function say(text, kind = "") {
    const node = make("p", { class: `toast ${kind}`.trim(), text: visible(text) });
    byId("toasts").append(node);
    byId("live").textContent = visible(text);
    setTimeout(() => node.remove(), time);
}
