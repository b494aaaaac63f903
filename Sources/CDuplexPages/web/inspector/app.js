// SPDX-License-Identifier: Apache-2.0
// The frame: a list of parts, one of which is shown. `#console?level=error` names it, and what of it.

import { get } from "./api.js";
import { byId, make } from "./dom.js";
import { icon } from "./icons.js";
import { onLink } from "./live.js";
import { say } from "./notices.js";
import { t, translate } from "./texts.js";

const parts = {
    connections: { title: t("connections"), icon: "connections", load: () => import("./connections.js") },
    requests: { title: t("requests"), icon: "requests", load: () => import("./requests.js") },
    console: { title: t("console"), icon: "console", load: () => import("./console.js") },
    files: { title: t("files"), icon: "folder", load: () => import("./files.js") },
    databases: { title: t("databases"), icon: "database", load: () => import("./databases.js") },
    values: { title: t("values"), icon: "values", load: () => import("./values.js") },
    commands: { title: t("commands"), icon: "commands", load: () => import("./commands.js") },
    views: { title: t("views"), icon: "views", load: () => import("./views.js") },
    machine: { title: t("machine"), icon: "machine", load: () => import("./machine.js") },
    recordings: { title: t("recordings"), icon: "record", load: () => import("./recordings.js") },
};

let shown = null;
let turn = 0;

/** What the address asks for: a part and what of it. */
function wanted(state) {
    const [name, query = ""] = location.hash.slice(1).split("?", 2);
    const part = state.pages.includes(name) ? name : state.pages[0];
    return { part, parameters: new URLSearchParams(query) };
}

/** Closes the part that is shown, and opens the one that the address asks for. */
async function show(state) {
    const mine = ++turn;
    const { part, parameters } = wanted(state);
    if (part === undefined) return;
    if (shown?.part === part && shown.view?.change) return shown.view.change(parameters);
    shown?.view?.close?.();
    shown = null;
    for (const link of byId("parts").children) {
        if (link.dataset.part === part) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    // A place of its own for each part: one that opens late writes into a place that isn't shown any more.
    const main = byId("main").cloneNode();
    byId("main").replaceWith(main);
    const title = parts[part]?.title ?? part;
    document.title = t("pageTitle", { part: title });
    main.className = `part-${part}`;
    main.append(make("h2", { id: "part-title", class: "spoken", text: title }));
    try {
        const module = await parts[part].load();
        if (mine !== turn) return;
        const view = await module.open(main, { state, parameters, allows: new Set(state.allows) });
        if (mine !== turn) return view?.close?.();
        shown = { part, view };
    } catch (error) {
        main.append(make("p", { class: "notice", text: t("partFailed", { reason: error.message }) }));
    }
}

async function start() {
    document.title = t("inspector");
    translate();
    onLink((isThere) => {
        const link = byId("link");
        link.textContent = isThere ? t("live") : t("notConnected");
        link.classList.toggle("lost", !isThere);
    });
    const state = await get("state");
    if (state.title) byId("title").textContent = state.title;
    byId("parts").replaceChildren(
        ...state.pages.map((name) =>
            make(
                "a",
                { href: `#${name}`, "data-part": name },
                icon(parts[name]?.icon ?? "file"),
                make("span", { text: parts[name]?.title ?? name }),
            ),
        ),
    );
    addEventListener("hashchange", () => show(state));
    await show(state);
}

start().catch((error) => say(error.message, "danger"));
