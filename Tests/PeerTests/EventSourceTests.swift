// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import Synchronization
import Testing

extension PeerTests {
    /// Event streams as others read them.
    struct EventSourceTests {
        private struct Cut: Error {}

        /// What the page has told, in the order in which it happened.
        private actor Reports {
            private(set) var texts: [String] = []
            private var waiting: [(text: String, continuation: AsyncStream<Never>.Continuation)] = []

            /// Takes a report, numbered because the page sends it again when it doesn't know whether it came.
            func add(_ report: String) {
                let parts = report.split(separator: " ", maxSplits: 1)
                guard parts.count == 2, Int(parts[0]) == texts.count else { return }
                let text = String(parts[1])
                texts.append(text)
                for waiter in waiting where waiter.text == text { waiter.continuation.finish() }
                waiting.removeAll { $0.text == text }
            }

            /// Ends early when its task is cancelled: a server that stops waits for handlers that wait here.
            func wait(for text: String) async {
                if texts.contains(text) { return }
                let (stream, continuation) = AsyncStream<Never>.makeStream()
                waiting.append((text, continuation))
                for await _ in stream {}
            }

            func behind(_ prefix: String) -> [String] {
                texts.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            }
        }

        /// Reads two streams, and tells the server in order, also of what came while there was none.
        private static let page = """
            <!doctype html><title>events</title><script>
            let number = 0, queue = Promise.resolve(), open = 2
            const send = body => fetch("/seen", { method: "POST", body }).catch(
                () => new Promise(done => setTimeout(done, 50)).then(() => send(body)))
            const report = text => { const body = `${number++} ${text}`; queue = queue.then(() => send(body)) }
            for (const name of ["feed", "cut"]) {
                const source = new EventSource("/" + name)
                source.onopen = () => report(name + " opened")
                source.onmessage = event => report(name + ": " + event.data)
                source.addEventListener("missed", () => report(name + " missed"))
                source.onerror = () => {
                    if (source.readyState !== EventSource.CLOSED) return
                    report(name + " closed")
                    if (--open === 0) queue.then(() => { document.title = "done" })
                }
            }
            </script>
            """

        private static func server(_ feed: EventFeed, _ reports: Reports) -> WebServer {
            var server = WebServer(port: 0)
            server.get("/") { _ in Response.html(page) }
            server.get("/favicon.ico") { _ in "" }
            server.post("/seen") { request in
                await reports.add(String(decoding: try await request.body.collect(), as: UTF8.self))
                return ""
            }
            server.events("/feed", of: feed, retry: .milliseconds(50)) { _ in try? ServerSentEvent("", event: "missed")
            }
            server.events(
                "/cut",
                .before { $0.lastEventID == "19" ? .endOfEvents : nil },
                retry: .milliseconds(50)
            ) { stream in
                let first = (stream.lastEventID.flatMap { Int($0) } ?? -1) + 1
                for number in first..<min(first + 5, 20) {
                    try await stream.send("line\n\(number)", id: "\(number)")
                    // A reset may overtake what has been sent.
                    if number == first { await reports.wait(for: "cut: line\n\(number)") }
                }
                throw Cut()
            }
            return server
        }

        @Test(
            "A browser comes back to a server that was restarted and to streams that were cut, and misses nothing",
            .timeLimit(minutes: 3)
        )
        func browser() async throws {
            let feed = EventFeed()
            let reports = Reports()
            try await withReservedPort { address in try await Self.restart(at: address, feed, reports) }
            #expect(await reports.behind("feed: ") == (1...5).map { "\($0)" })
            #expect(await reports.behind("cut: line\n") == (0..<20).map { "\($0)" })
            #expect(await !reports.texts.contains("feed missed"))
        }

        /// Runs the server twice at one address, and a browser before, between and after.
        private static func restart(at address: SocketAddress, _ feed: EventFeed, _ reports: Reports) async throws {
            var server = server(feed, reports)
            server.listener.address = .tcp(host: .address(address.host), port: address.port)
            let check = [
                Peer.python, Peer.path("scripts/more/peers/events_check.py"), "http://\(address)/", "--deadline", "120",
            ]
            let browser = Mutex<Task<String, any Error>?>(nil)
            try await server.withRunning { _ in
                browser.withLock { $0 = Task { try await PeerProcess.run(check, environment: Peer.environment) } }
                await reports.wait(for: "feed opened")
                for number in 1...2 { try feed.publish("\(number)") }
                await reports.wait(for: "feed: 2")
            }
            for number in 3...4 { try feed.publish("\(number)") }
            try await server.withRunning { _ in
                await reports.wait(for: "feed: 4")
                try feed.publish("5")
                await reports.wait(for: "cut closed")
                feed.finish()
                let output = try await browser.withLock { $0 }?.value
                #expect(output?.hasPrefix("ok: ") == true)
            }
        }

        @Test("curl gets each event as it is sent, and the end of the stream", .timeLimit(minutes: 1))
        func curl() async throws {
            let feed = EventFeed()
            var server = WebServer(port: 0)
            server.events("/feed", of: feed)
            try await server.withRunning { address in
                let url = "http://localhost:\(address.port)/feed"
                // The first line is that of an id, which shows where the stream begins.
                try await PeerProcess.withRunning(["/usr/bin/env", "curl", "-sN", url]) { curl, line in
                    #expect(line == "id: \(feed.lastID)")
                    for number in 0..<3 {
                        try feed.publish("\(number)", event: "tick", id: "\(number)")
                        try await curl.waitForLine(containing: "data: \(number)")
                    }
                    feed.finish()
                }
                let again = try await PeerProcess.run(["/usr/bin/env", "curl", "-siN", "-H", "Last-Event-ID: 0", url])
                #expect(again.hasPrefix("HTTP/1.1 204"))
            }
        }
    }
}
