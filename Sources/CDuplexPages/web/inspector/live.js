// SPDX-License-Identifier: Apache-2.0
// Everything live comes over one WebSocket. Each `watch` has a number; after a loss all are asked for again, from
// where they were.

const watches = new Map();
const listeners = new Set();
let socket = null;
let last = 0;
let delay = 250;
let timer = null;

function tell(isThere) {
    for (const listener of listeners) listener(isThere);
}

function ask(number) {
    const { topic, parameters, position } = watches.get(number);
    if (socket?.readyState === WebSocket.OPEN) {
        socket.send(JSON.stringify({ watch: number, topic, parameters, since: position }));
    }
}

function take(text) {
    const news = JSON.parse(text);
    const watch = watches.get(news.watch);
    if (!watch) return;
    if (news.error !== undefined) {
        watch.onError?.(news.error);
        return;
    }
    watch.position = news.position;
    watch.onItems(news.items, { lost: news.lost });
}

function connect() {
    timer = null;
    const url = new URL("../live", import.meta.url);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(url);
    socket.onopen = () => {
        delay = 250;
        tell(true);
        for (const number of watches.keys()) ask(number);
    };
    socket.onmessage = (event) => take(event.data);
    socket.onclose = () => {
        tell(false);
        timer = setTimeout(connect, delay);
        delay = Math.min(delay * 2, 5000);
    };
}

/** Is called with whether the connection is there, now and each time that this changes. */
export function onLink(listener) {
    listeners.add(listener);
    listener(socket?.readyState === WebSocket.OPEN);
    if (socket === null && timer === null) connect();
}

/**
 * Watches a topic.
 *
 * @param topic its name
 * @param onItems gets what is new, in its order, and `{ lost }`: how many items were gone before they could be had
 * @param {{ parameters?: object, onError?: (error: any) => void, since?: number }} options the parameters of the topic
 *     (texts), and the position to begin behind
 * @returns what ends it: a function
 */
export function watch(topic, onItems, { parameters = {}, onError, since = 0 } = {}) {
    const number = ++last;
    watches.set(number, { topic, parameters, onItems, onError, position: since });
    if (socket === null && timer === null) connect();
    else ask(number);
    return () => {
        watches.delete(number);
        if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ unwatch: number }));
    };
}
