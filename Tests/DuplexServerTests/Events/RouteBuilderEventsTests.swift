// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@Suite("Routes of event streams", .timeLimit(minutes: 1))
struct RouteBuilderEventsTests {
    /// A wait that only its cancellation ends.
    static func forever() async throws {
        let (never, continuation) = AsyncStream<Never>.makeStream()
        defer { continuation.finish() }
        for await _ in never {}
        throw CancellationError()
    }

    @Test("A stream says what it is, and that nobody on the way is to keep it or to gather it")
    func head() async throws {
        var server = WebServer(port: 0)
        server.events("/feed") { stream in try await stream.send("one") }
        server.events("/of", of: EventFeed())
        try await server.test { client async throws in
            for path in ["/feed", "/of"] {
                let stream = try await client.events(path)
                let headers = stream.head.headers
                #expect(stream.head.status == .ok)
                #expect(headers[.contentType] == "text/event-stream; charset=utf-8")
                #expect(headers[.cacheControl] == "no-store, no-transform")
                #expect(headers[.init("X-Accel-Buffering") ?? .accept] == "no")
                #expect(headers[.transferEncoding] == "chunked" && headers[.contentLength] == nil)
                await stream.close()
            }
        }
    }

    @Test("HEAD is answered without the handler, other methods with 405, who takes no event stream with 406")
    func methods() async throws {
        let count = Mutex(0)
        var server = WebServer(port: 0)
        let feed = EventFeed()
        server.events("/feed") { stream in
            count.withLock { $0 += 1 }
            try await stream.send("x")
        }
        server.events("/of", of: feed)
        try await server.test { client async throws in
            for path in ["/feed", "/of"] {
                let connection = await client.connect()
                let head = try await connection.request(.head, path)
                #expect(head.status == .ok && head.headers[.contentType] == "text/event-stream; charset=utf-8")
                // And the connection goes on.
                let post = try await connection.request(.post, path)
                #expect(post.status == .methodNotAllowed && post.headers[.allow] == "GET, HEAD, OPTIONS")
                let json = try await connection.request(.get, path, headers: [.accept: "application/json"])
                #expect(json.status == .notAcceptable)
                await connection.close()
            }
            #expect(count.withLock { $0 } == 0 && feed.streamCount == 0)
            for accept in ["*/*", "text/*", "text/event-stream;q=0.1, text/html"] {
                let response = try await client.get("/feed", headers: [.accept: accept])
                #expect(response.text == "data: x\n\n")
            }
        }
    }

    @Test("A client of HTTP/1.0 gets no chunks, and the end of the connection behind the last event")
    func old() async throws {
        let feed = EventFeed()
        try feed.publish("one", id: "1")
        try await withMemoryServer { server in
            server.events("/feed", retry: .seconds(1)) { stream in try await stream.send("one", id: "1") }
            server.events("/of", of: feed, replay: 1, retry: .seconds(1))
        } _: { server in
            for path in ["/feed", "/of"] {
                let peer = await server.connect()
                try await peer.send("GET \(path) HTTP/1.0\r\n\r\n")
                let head = try await peer.readHead()
                #expect(!head.contains("Transfer-Encoding") && head.contains("Connection: close"))
                if path == "/of" { feed.finish() }
                let text = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                #expect(text.hasPrefix("retry: 1000\n") || text.hasPrefix("id:"), "\(text)")
                #expect(text.hasSuffix("\n\nid: 1\ndata: one\n\n"), "\(text)")
            }
        }
    }

    @Test("A comment is sent while nothing else is, and only then")
    func heartbeat() async throws {
        let feed = EventFeed()
        let (ticks, tick) = AsyncStream<String>.makeStream()
        var server = WebServer(port: 0)
        server.events("/feed", heartbeat: .seconds(10)) { stream in
            for await text in ticks { try await stream.send(text) }
        }
        server.events("/of", of: feed, heartbeat: .seconds(10))
        server.events("/quiet", of: feed, heartbeat: nil)
        try await server.test { client async throws in
            for path in ["/feed", "/of"] {
                let stream = try await client.events(path)
                var expected: [EventStreamItem] = []
                for text in ["one", "two"] {
                    await client.clock.advance(by: .seconds(9))
                    if path == "/of" { try feed.publish(text) } else { tick.yield(text) }
                    let item = try await stream.next()
                    #expect(item.isEvent(text), "\(String(describing: item))")
                }
                await client.clock.advance(by: .seconds(10))
                await client.clock.advance(by: .seconds(10))
                if path == "/of" { feed.finish() } else { tick.finish() }
                while let item = try await stream.next() { expected.append(item) }
                #expect(expected == [.comment(""), .comment("")])
            }
        }
    }

    @Test(
        "A client that is lost cancels the handler at once, though it writes nothing; one that closes in order, by a heartbeat",
        arguments: [false, true]
    )
    func clientEnds(isReset: Bool) async throws {
        let (ends, ended) = AsyncStream<Bool>.makeStream()
        let feed = EventFeed()
        var server = WebServer(port: 0)
        server.events("/feed") { stream in
            try await stream.send("hello")
            do { try await Self.forever() } catch {
                ended.yield(error is CancellationError)
                throw error
            }
        }
        server.events("/of", of: feed, replay: 1)
        try feed.publish("hello")
        try await server.test { client async throws in
            for path in ["/feed", "/of"] {
                let stream = try await client.events(path)
                #expect(try await stream.nextData() == "hello")
                #expect(feed.streamCount == (path == "/of" ? 1 : 0))
                if isReset {
                    await stream.close()
                } else {
                    // It still takes the first comment.
                    await stream.connection.close()
                    await client.clock.advance(by: .seconds(15))
                }
                if path == "/feed" { #expect(await ends.first { _ in true } == true) }
                await client.loop.settle()
                await client.loop.settle()
                #expect(feed.streamCount == 0)
            }
        }
    }

    @Test("A client that only ends its side is sent events and comments as before, until it resets the connection")
    func halfClosed() async throws {
        let (ends, ended) = AsyncStream<Bool>.makeStream()
        let (ticks, tick) = AsyncStream<String>.makeStream()
        let feed = EventFeed()
        var server = WebServer(port: 0)
        server.events("/feed", heartbeat: .seconds(10)) { stream in
            for await text in ticks { try await stream.send(text) }
            ended.yield(Task.isCancelled)
        }
        server.events("/of", of: feed, heartbeat: .seconds(10))
        try await server.test { client async throws in
            for path in ["/feed", "/of"] {
                let stream = try await client.events(path)
                await stream.connection.finishWriting()
                #expect(try await stream.next() == .comment(""))
                for text in ["one", "two"] {
                    if path == "/of" { try feed.publish(text) } else { tick.yield(text) }
                    #expect(try await stream.nextData() == text)
                    await client.clock.advance(by: .seconds(10))
                    #expect(try await stream.next() == .comment(""))
                }
                await stream.connection.reset()
                if path == "/feed" { #expect(await ends.first { _ in true } == true) }
                await client.loop.settle()
                #expect(feed.streamCount == 0)
            }
        }
    }

    @Test("A server that shuts down ends the stream of a client that has ended its side, whole")
    func halfClosedAtShutdown() async throws {
        let feed = EventFeed()
        try await withMemoryServer { server in
            server.events("/feed") { stream in
                try await stream.send("one")
                try await Self.forever()
            }
            server.events("/of", of: feed, retry: .seconds(1))
        } _: { server in
            var peers: [RawPeer] = []
            for path in ["/feed", "/of"] {
                let peer = await server.connect()
                try await peer.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                await peer.finishWriting()
                _ = try await peer.readHead()
                peers.append(peer)
            }
            await server.beginToEnd()
            for peer in peers {
                let text = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                #expect(text.hasSuffix("\r\n0\r\n\r\n"), "\(text)")
            }
        }
    }

    @Test("Behind a stream that has ended the connection goes on, with another stream as well")
    func goesOn() async throws {
        var server = WebServer(port: 0)
        let feed = EventFeed()
        try feed.publish("one", id: "1")
        server.events("/feed") { stream in try await stream.send("one") }
        server.get("/wait") { request in
            await Task.yield()
            return request.path
        }
        try await server.test { client async throws in
            let connection = await client.connect()
            for _ in 0..<2 {
                #expect(try await connection.get("/feed").text == "data: one\n\n")
                #expect(try await connection.get("/wait").text == "/wait")
            }
            // What is pipelined waits for the end of the stream.
            try await connection.send(.get, "/feed")
            try await connection.send(.get, "/wait")
            #expect(try await connection.response().text == "data: one\n\n")
            #expect(try await connection.response().text == "/wait")
        }
    }

    @Test("What a handler throws cuts the connection: nobody takes the stream for ended")
    func failing() async throws {
        struct Failure: Error {}
        let log = RecordedLog()
        var server = WebServer(port: 0)
        server.logger = log.logger
        // A machine that is busy may have a loop stand still.
        server.blockedLoopThreshold = nil
        server.events("/feed") { stream in
            try await stream.send("one")
            throw Failure()
        }
        try await server.test { client async throws in
            await #expect(throws: (any Error).self) {
                let stream = try await client.events("/feed")
                while try await stream.next() != nil {}
            }
            #expect(log.entries.map { $0.metadata["route"] } == ["GET /feed"])
        }
    }

    @Test("204 tells a client not to come back: by middleware, and behind the end of a feed")
    func over() async throws {
        let feed = EventFeed()
        feed.finish()
        var server = WebServer(port: 0)
        server.events("/feed", .before { $0.lastEventID == "9" ? .endOfEvents : nil }) { stream in
            try await stream.send("x", id: "9")
        }
        server.events("/of", of: feed)
        try await server.test { client async throws in
            #expect(try await client.events("/feed").head.status == .ok)
            #expect(try await client.events("/feed", lastEventID: "9").head.status == .noContent)
            #expect(try await client.events("/of").head.status == .noContent)
        }
    }

    // MARK: The end of the server

    @Test("Streams end at the shutdown at once and whole, and no time passes")
    func drain() async throws {
        let (ends, ended) = AsyncStream<Void>.makeStream()
        let feed = EventFeed()
        try await withMemoryServer { server in
            server.events("/feed") { stream in
                try await stream.send("hello")
                do { try await Self.forever() } catch { ended.yield() }
            }
            server.events("/of", of: feed)
        } _: { server in
            var peers: [RawPeer] = []
            for path in ["/feed", "/feed", "/of", "/of"] {
                let peer = await server.connect()
                try await peer.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await peer.readHead()
                peers.append(peer)
            }
            await server.beginToEnd()
            for peer in peers {
                let text = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                #expect(text.hasSuffix("\r\n0\r\n\r\n"), "\(text)")
            }
            var count = 0
            for await _ in ends {
                count += 1
                if count == 2 { break }
            }
            #expect(feed.streamCount == 0)
        }
    }

    @Test("Streams end in batches with the WebSockets, and are served until then")
    func batches() async throws {
        let feed = EventFeed()
        try await withMemoryServer { server in
            server.drain = Drain(over: .seconds(3))
            server.events("/feed") { stream in
                for await text in Self.texts { try await stream.send(text) }
            }
            server.events("/of", of: feed)
            server.webSocket("/socket") { socket in for try await _ in socket.messages {} }
        } _: { server in
            var peers: [RawPeer] = []
            for _ in 0..<2 {
                let peer = await server.connect()
                try await peer.send("GET /of HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await peer.readHead()
                peers.append(peer)
                let other = await server.connect()
                try await other.send("GET /feed HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await other.readHead()
                peers.append(other)
            }
            await server.beginToEnd()
            #expect(feed.streamCount >= 1, "one of four has ended so far")
            await server.loop.advance(by: .seconds(1))
            await server.loop.advance(by: .seconds(1))
            await server.loop.advance(by: .seconds(1))
            for peer in peers {
                #expect(String(decoding: try await peer.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
            }
            #expect(feed.streamCount == 0)
        }
    }

    private static var texts: AsyncStream<String> { AsyncStream { _ in } }

    // MARK: A port

    @Test("Over a port, in the clear: events come as they are sent, and the client's reset is seen")
    func port() async throws {
        let feed = EventFeed()
        let (ends, ended) = AsyncStream<Void>.makeStream()
        try await withServer { server in
            server.events("/feed") { stream in
                for number in 0..<1_000 { try await stream.send("\(number)") }
                do { try await Self.forever() } catch { ended.yield() }
            }
            server.events("/of", of: feed)
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("GET /feed HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await peer.readHead()
            for number in 0..<1_000 {
                let event = "data: \(number)\n\n"
                let chunk = "\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n"
                #expect(try await peer.read(exactly: chunk.utf8.count) == Array(chunk.utf8))
            }
            await peer.reset()
            for await _ in ends { break }
            let other = try await RawPeer.connect(to: address)
            try await other.send("GET /of HTTP/1.0\r\nHost: a\r\n\r\n")
            _ = try await other.readHead()
            let id = feed.lastID
            #expect(try await other.read(exactly: id.utf8.count + 6) == Array("id: \(id)\n\n".utf8))
            try feed.publish("x", id: "1")
            #expect(try await other.read(exactly: 15) == Array("id: 1\ndata: x\n\n".utf8))
            await other.reset()
        }
    }
}

extension EventStreamItem? {
    fileprivate func isEvent(_ text: String) -> Bool {
        if case .event(_, text, _) = self { true } else { false }
    }
}
