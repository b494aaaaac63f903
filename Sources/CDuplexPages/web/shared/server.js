// SPDX-License-Identifier: Apache-2.0
// Requests, relative to where the page is. Answers are JSON, errors problem details (RFC 9457).

const base = new URL("../", import.meta.url);

/** What the server refused, or 0 as its status if the server wasn't reached. */
export class Problem extends Error {
    constructor(status, detail) {
        super(detail);
        this.status = status;
    }

    /** Whether the same request may succeed later. */
    get isPassing() {
        return [0, 408, 423, 429, 502, 503, 504].includes(this.status);
    }
}

/**
 * The address of something below the page. A value of the query that is a list is named once for each of its values,
 * and one that isn't there is left out.
 */
export function address(name, query = {}) {
    const all = Object.entries(query).flatMap(([key, value]) => [value].flat().map((one) => [key, one]));
    const pairs = all.filter(([, value]) => value !== undefined && value !== null);
    const text = pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
    return new URL(text === "" ? name : `${name}?${text}`, base).href;
}

const accepting = { accept: "application/json, application/problem+json" };

/** The server of the page. */
export class Server {
    #words;

    /** @param words `unreachable()` and `refused(status)`: the texts if the server has sent none */
    constructor(words) {
        this.#words = words;
    }

    /** A `fetch` whose failures are Problems, but for the one that its signal asked for. */
    async request(url, options = {}) {
        let answer;
        try {
            answer = await fetch(url, options);
        } catch (error) {
            throw error.name === "AbortError" ? error : this.unreachable();
        }
        if (!answer.ok) throw this.problem(answer.status, await answer.text().catch(() => ""));
        return answer;
    }

    /** What the server says of something. */
    async get(name, query, signal) {
        return (await this.request(address(name, query), { headers: accepting, signal })).json();
    }

    /** Changes something; the result is null if the answer has no content. */
    async post(name, value = {}, signal) {
        const headers = { ...accepting, "content-type": "application/json" };
        const body = JSON.stringify(value);
        const answer = await this.request(address(name), { method: "POST", headers, body, signal });
        return answer.status === 204 ? null : answer.json();
    }

    unreachable() {
        return new Problem(0, this.#words.unreachable());
    }

    /** The problem in an answer: its `detail`, or else its `title`. */
    problem(status, text) {
        let body = null;
        try {
            body = JSON.parse(text);
        } catch {
            // An answer of something between us and the server: only its status is known.
        }
        return new Problem(status, body?.detail ?? body?.title ?? this.#words.refused(status));
    }
}
