// SPDX-License-Identifier: Apache-2.0
// The last requests, the newest first; one of them opened beside the list.

import { get, post } from "./api.js";
import { make } from "./dom.js";
import { foreign } from "./foreign.js";
import { bytes, clock, duration } from "./format.js";
import { button, changeIcon } from "./icons.js";
import { watch } from "./live.js";
import { say } from "./notices.js";
import { messageParts } from "./payload.js";
import { t } from "./texts.js";

const limit = 500;
const columns = [t("time"), t("method"), t("path"), t("status"), t("took"), t("in"), t("out"), t("client")];

function tone(status) {
    return status >= 500 || status === 0 ? "badge bad" : status >= 400 ? "badge warm" : "badge good";
}

function path(url) {
    return url.replace(/^[a-z]+:\/\/[^/]*/, "");
}

const message = (title, fields, body) => messageParts(title, fields, body, t("bodyNotKept"));

async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        say(t("inClipboard"));
    } catch {
        say(t("noClipboard"), "danger");
    }
}

function times({ handler, sending }) {
    const parts = [];
    if (handler !== undefined) parts.push(t("handlerTime", { time: duration(handler) }));
    if (sending !== undefined) parts.push(t("sendingTime", { time: duration(sending) }));
    return parts.join(" · ");
}

async function detail(place, id, allows) {
    const exchange = await get("requests/one", { id });
    const command = make("pre", { class: "text", hidden: true });
    place.append(
        make("h3", {}, foreign("span", `${exchange.method} ${path(exchange.url)}`)),
        make(
            "div",
            { class: "tools" },
            button("copy", {
                text: t("copyCurl"),
                onclick: async () => {
                    const { command: text } = await get("requests/curl", { id });
                    command.textContent = text;
                    command.hidden = false;
                    await copy(text);
                },
            }),
            ...(allows.has("replaying")
                ? [
                      button("again", {
                          text: t("repeat"),
                          onclick: async () => {
                              try {
                                  const answer = await post("requests/repeat", { id: Number(id) });
                                  say(t("answeredWith", { status: answer.status }));
                              } catch (error) {
                                  say(error.message, "danger");
                              }
                          },
                      }),
                  ]
                : []),
        ),
        command,
        make(
            "p",
            {},
            make("span", { class: tone(exchange.status), text: `${exchange.status || t("none")} ${exchange.reason}` }),
            " ",
            make("span", { class: "soft", text: `${duration(exchange.total)} (${times(exchange)})` }),
        ),
        exchange.error ? foreign("p", exchange.error, { class: "notice" }) : "",
        make(
            "dl",
            { class: "facts" },
            make("dt", { text: t("route") }),
            foreign("dd", exchange.route ?? t("none")),
            make("dt", { text: t("url") }),
            foreign("dd", exchange.url),
            make("dt", { text: t("client") }),
            foreign("dd", exchange.peer ?? "–"),
        ),
        ...message(t("request"), exchange.requestHeaders, exchange.requestBody),
        ...message(t("response"), exchange.responseHeaders, exchange.responseBody),
    );
}

export async function open(main, { parameters, allows }) {
    let all = [];
    let isHeld = false;
    let isWatched = false;
    let waiting = [];
    let opened = null;
    let lost = 0;
    const filter = make("input", {
        type: "search",
        class: "grow",
        placeholder: t("filter"),
        "aria-label": t("filterRequests"),
        oninput: show,
    });
    const hold = button("pause", {
        label: t("pause"),
        onclick: () => {
            isHeld = !isHeld;
            changeIcon(hold, isHeld ? "play" : "pause");
            hold.setAttribute("aria-label", isHeld ? t("goOn") : t("pause"));
            take([]);
        },
    });
    const clear = button("trash", {
        label: t("clear"),
        onclick: () => {
            all = [];
            show();
        },
    });
    const summary = make("span", { class: "soft", role: "status" });
    const body = make("tbody");
    const place = make("section", { class: "detail", "aria-label": t("request"), hidden: true });
    main.append(
        make("div", { class: "tools" }, hold, clear, filter, summary),
        make(
            "div",
            { class: "grid-frame list" },
            make(
                "table",
                { class: "grid", "aria-labelledby": "part-title" },
                make("thead", {}, make("tr", {}, ...columns.map((text) => make("th", { scope: "col", text })))),
                body,
            ),
        ),
        place,
    );

    function row(exchange) {
        const go = () => {
            location.hash = `requests?id=${exchange.id}`;
        };
        return make(
            "tr",
            {
                class: "choice",
                tabindex: "0",
                onclick: go,
                "aria-selected": String(String(exchange.id) === opened),
                onkeydown: (event) => {
                    if (event.key === "Enter") go();
                },
            },
            make("td", { class: "number", text: clock(exchange.began) }),
            foreign("td", exchange.method),
            foreign("td", path(exchange.url), { class: "path" }),
            make("td", {}, make("span", { class: tone(exchange.status), text: exchange.status || t("none") })),
            make("td", { class: "number", text: duration(exchange.total) }),
            make("td", { class: "number", text: bytes(exchange.received) }),
            make("td", { class: "number", text: bytes(exchange.sent) }),
            foreign("td", exchange.peer ?? "–"),
        );
    }

    function show() {
        const text = filter.value.trim().toLowerCase();
        const shown = all.filter((exchange) => JSON.stringify(exchange).toLowerCase().includes(text));
        body.replaceChildren(...shown.map(row));
        const counts = [t("requestCount", { count: shown.length })];
        if (isHeld) counts.push(t("waitCount", { count: waiting.length }));
        if (lost) counts.push(t("notShownCount", { count: lost }));
        summary.textContent = isWatched ? counts.join(", ") : t("requestsBegin");
    }

    function take(items) {
        waiting = [...waiting, ...items].slice(-limit);
        if (!isHeld) {
            all = [...waiting.reverse(), ...all].slice(0, limit);
            waiting = [];
        }
        show();
    }

    async function change(wanted) {
        const id = wanted.get("id");
        opened = id;
        place.replaceChildren();
        place.hidden = id === null;
        main.classList.toggle("with-detail", id !== null);
        show();
        if (id === null) return;
        place.append(
            button("close", {
                label: t("close"),
                class: "quiet close",
                onclick: () => {
                    location.hash = "requests";
                },
            }),
        );
        try {
            await detail(place, id, allows);
        } catch (error) {
            place.append(make("p", { class: "notice", text: error.message }));
        }
    }

    const end = watch(
        "requests",
        (items, news) => {
            lost += news.lost;
            isWatched = true;
            take(items);
        },
        {
            onError: (text) => {
                summary.textContent = text;
            },
        },
    );
    await change(parameters);
    return { change, close: end };
}
