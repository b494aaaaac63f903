// Requests, relative to where the page is. Answers are JSON, errors problem details (RFC 9457).

const base = new URL("../", import.meta.url);

/** What was refused, or 0 as its status where nobody was reached. */
export class Problem extends Error {
    constructor(status, detail) {
        super(detail);
        this.status = status;
    }
}

/** The address of something below the page; a value of the query that is a list is named once for each. */
export function address(name, query = {}) {
    const url = new URL(name, base);
    for (const [key, value] of Object.entries(query)) {
        for (const one of [value].flat()) if (one !== undefined && one !== null) url.searchParams.append(key, one);
    }
    return url.href;
}

async function ask(url, options) {
    let answer;
    try {
        answer = await fetch(url, options);
    } catch (error) {
        throw error.name === "AbortError" ? error : new Problem(0, "The app can't be reached.");
    }
    if (answer.ok) return answer;
    let body = null;
    try {
        body = await answer.json();
    } catch {
        // Something between us and the app has answered: its status says all that there is.
    }
    throw new Problem(answer.status, body?.detail ?? body?.title ?? `The app has answered with ${answer.status}.`);
}

const accepting = { accept: "application/json, application/problem+json" };

/** What the app says of something. */
export async function get(name, query, signal) {
    return (await ask(address(name, query), { headers: accepting, signal })).json();
}

/** Changes something; throws a `Problem` where that isn't allowed or fails. */
export async function post(name, value = {}, signal) {
    const headers = { ...accepting, "content-type": "application/json" };
    const answer = await ask(address(name), { method: "POST", headers, body: JSON.stringify(value), signal });
    return answer.status === 204 ? null : answer.json();
}
