// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexWire

/// A client of the JSON protocol of topics for pages and for Node.
public enum TopicScript {
    /// A module of JavaScript with one class, `Topics`, of 60 lines.
    ///
    /// ```swift
    /// server.get("/topics.js") { _ in TopicScript.response }
    /// ```
    ///
    /// ```js
    /// import { Topics } from "/topics.js"
    /// const topics = new Topics("wss://example.com/topics")
    /// topics.subscribe("room/42", message => console.log(message.text), { last: 20 })
    /// await topics.publish("room/42", "hi")
    /// ```
    ///
    /// It reconnects, resumes its subscriptions, and enters and watches again. `message.gap` is true when messages may
    /// be missing before this one. The subscriptions of one client may not overlap, as `room/#` and `room/42` do.
    package static let module = #"""
        // SPDX-License-Identifier: Apache-2.0
        export class Topics {
          #url; #timeout; #most; #socket; #id = 0; #wait = 125; #isClosed = false
          #asked = new Map(); #rooms = new Map(); #entered = new Map(); #watched = new Map()
          constructor(url, { timeout = 10000, most = 1000 } = {}) { [this.#url, this.#timeout, this.#most] = [url, timeout, most]; this.#connect() }
          /** Calls take({ topic, text or base64, position, missed, gap }) with each message; returns what ends it. */
          subscribe(topic, take, { last, failed = console.error } = {}) {
            const words = topic.replace(/[.*?^${}()|[\]\\]/g, "\\$&").replace(/\+/g, "[^/]+")
            const match = new RegExp(`^${words.replace(/^#$/, ".*").replace(/\/#$/, "(/.*)?")}$`, "s")
            const room = { take, last, failed, match }; this.#rooms.set(topic, room); this.#join(topic)
            return () => { if (this.#rooms.get(topic) === room && this.#rooms.delete(topic) && this.#isOpen) this.#ask({ unsubscribe: topic }) } }
          /** Publishes a text; fails with "unanswered" when nobody knows whether it was published. */
          publish(topic, text) { return this.#promise({ publish: topic, text }) }
          enter(topic, info) { this.#entered.set(topic, info); return this.#promise({ enter: topic, info }) }
          leave(topic) { this.#entered.delete(topic); return this.#promise({ leave: topic }) }
          presence(topic, limit = 100) { return this.#promise({ presence: topic, limit }) }
          /** Calls take({ count, members }) now and behind each new connection, then take({ joined }) and take({ left }). */
          watch(topic, take) { this.#watched.set(topic, take); this.#look(topic)
            return () => { this.#watched.delete(topic); if (this.#isOpen) this.#ask({ unwatch: topic }) } }
          close() { this.#isClosed = true; this.#socket.close(1000) }
          get #isOpen() { return this.#socket.readyState === 1 && !this.#socket.isOver }
          #connect() { const socket = this.#socket = new WebSocket(this.#url)
            socket.onmessage = ({ data }) => this.#take(JSON.parse(data))
            socket.onopen = () => { this.#wait = 125
              for (const topic of this.#rooms.keys()) this.#join(topic)
              for (const [enter, info] of this.#entered)
                this.#ask({ enter, info }, () => {}, ({ error }) => error === "unanswered" || this.#entered.delete(enter))
              for (const topic of this.#watched.keys()) this.#look(topic)
              for (const asked of this.#asked.values()) if (!asked.isSent) this.#send(asked) }
            socket.onclose = socket.onerror = () => { if (socket.isOver) return; socket.isOver = true // Node may tell one alone.
              for (const asked of [...this.#asked.values()])
                if (asked.isSent || this.#isClosed) asked.end(asked.failed, { error: this.#isClosed ? "closed" : "unanswered" })
              if (!this.#isClosed) setTimeout(() => this.#isClosed || this.#connect(), Math.random() * (this.#wait = Math.min(2 * this.#wait, 30000))) } }
          #join(topic) { const room = this.#rooms.get(topic); room.isLive = false; if (!this.#isOpen) return
            const from = room.position ? { after: room.position } : room.isBegun ? {} : { last: room.last }
            this.#ask({ subscribe: topic, ...from }, ({ position, complete }) => {
              room.gap ||= position ? complete === false || (room.isBegun && !from.after) : false // Without, the next one tells.
              Object.assign(room, { position: position ?? room.position, isUnsure: !position && room.isBegun, isBegun: true, isLive: true })
            }, error => { if (error.error !== "unanswered") { this.#rooms.delete(topic); room.failed(error) } }) }
          #look(topic) { if (this.#isOpen) this.#ask({ watch: topic }, () =>
            this.#ask({ presence: topic, limit: 1000 }, answer => this.#watched.get(topic)?.(answer))) }
          #promise(request) { return new Promise((done, failed) => this.#ask(request, done, failed, this.#most)) }
          #ask(request, done = () => {}, failed = () => {}, most = Infinity) {
            if (this.#isClosed || this.#asked.size >= most) return failed({ error: this.#isClosed ? "closed" : "limitReached" })
            const id = ++this.#id, asked = { done, failed, text: JSON.stringify({ id, ...request }) }
            asked.end = (tell, value) => { clearTimeout(asked.timer); this.#asked.delete(id); tell(value) }
            asked.timer = setTimeout(() => asked.end(failed, { error: "timedOut" }), this.#timeout)
            this.#asked.set(id, asked); if (this.#isOpen) this.#send(asked) }
          #send(asked) { asked.isSent = true; this.#socket.send(asked.text) }
          #take(reply) { const { id, topic, position } = reply, asked = this.#asked.get(id)
            if (!topic) return asked?.end(reply.ok ? asked.done : asked.failed, reply.ok || reply.error ? reply : { error: "invalidResponse" })
            if (reply.joined || reply.left) return this.#watched.get(topic)?.(reply)
            const room = this.#rooms.get(topic) ?? [...this.#rooms.values()].find(room => room.match.test(topic))
            if (!room?.isLive) return; if (reply.missed) return void (room.missed = (room.missed ?? 0) + reply.missed)
            if (position && this.#rooms.has(topic)) { const [[last, seen], [epoch, offset]] = [room.position ?? "-", position].map(at => at.split("-"))
              if (epoch === last && +offset <= +seen) return
              room.position = position; room.isUnsure &&= epoch !== last || +offset > +seen + 1 }
            const { gap = false, missed = 0, isUnsure } = room; Object.assign(room, { gap: false, missed: 0, isUnsure: false })
            room.take({ ...reply, missed, gap: gap || missed > 0 || isUnsure === true || reply.gap === true }) }
        }
        """#

    /// The module as a response.
    public static var response: Response { Response(type: .javaScript, body: .text(module)) }
}
