// The requests of the page, relative to where it is mounted. Answers are JSON, errors problem details (RFC
// 9457).

import { t } from "./texts.js";

const base = new URL("../", import.meta.url);

/** What the server refused, or 0 as its status where the server was not reached. */
export class Problem extends Error {
    constructor(status, detail) {
        super(detail);
        this.status = status;
    }

    /** Whether the same request may succeed later. */
    get isPassing() {
        return [0, 408, 423, 429, 502, 503, 504].includes(this.status);
    }

    static unreachable() {
        return new Problem(0, t("unreachable"));
    }

    /** The problem in an answer: its `detail`, or else its `title`. */
    static of(status, text) {
        let body = null;
        try {
            body = JSON.parse(text);
        } catch {
            // An answer of something between us and the server: only its status is known.
        }
        return new Problem(status, body?.detail ?? body?.title ?? t("refused", { status }));
    }
}

/** The address of a part of the API; a query value that is a list is named once for each of its values. */
export function address(name, query = {}) {
    const pairs = Object.entries(query).flatMap(([key, value]) => [value].flat().map((one) => [key, one]));
    const text = pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
    return new URL(text === "" ? name : `${name}?${text}`, base).href;
}

/** A `fetch` whose failures are Problems, but for the one that its signal asked for. */
export async function request(url, options = {}) {
    let answer;
    try {
        answer = await fetch(url, options);
    } catch (error) {
        throw error.name === "AbortError" ? error : Problem.unreachable();
    }
    if (!answer.ok) throw Problem.of(answer.status, await answer.text().catch(() => ""));
    return answer;
}

async function get(name, query, signal) {
    const answer = await request(address(name, query), { headers: { accept: "application/json" }, signal });
    return answer.json();
}

async function post(name, body = {}) {
    const headers = { "content-type": "application/json", accept: "application/json" };
    const answer = await request(address(name), { method: "POST", headers, body: JSON.stringify(body) });
    return answer.json();
}

export const api = {
    list: (path, signal) => get("list", { path }, signal),
    search: (path, text, signal) => get("search", { path, text }, signal),
    trash: (signal) => get("trash", {}, signal),
    create: (path) => post("create", { path }),
    rename: (path, name) => post("rename", { path, name }),
    move: (from, to, clash) => post("move", { from, to, clash }),
    copy: (from, to, clash) => post("copy", { from, to, clash }),
    delete: (paths) => post("delete", { paths }),
    deleteForever: (paths) => post("delete", { paths, forever: true }),
    restore: (ids) => post("restore", { ids }),
    empty: () => post("empty"),
};
