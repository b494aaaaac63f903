// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

/// RFC 9112 section 8: uploads whose clients leave at each byte are never taken for whole ones.
@Suite struct CutUploadTests {
    /// Where uploads are kept once they are whole, and lie open before.
    private final class Store: Sendable {
        struct State {
            var open = 0
            var kept = 0
            var failures: [any Error] = []
        }

        let state = Mutex(State())

        /// Has a body taken; what is open is closed in every case.
        func keep(_ take: () async throws -> Void) async throws -> HTTPResponse.Status {
            state.withLock { $0.open += 1 }
            defer { state.withLock { $0.open -= 1 } }
            do {
                try await take()
            } catch {
                state.withLock { $0.failures.append(error) }
                throw error
            }
            state.withLock { $0.kept += 1 }
            return .created
        }
    }

    /// A whole upload.
    struct Upload: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]

        var testDescription: String { name }
        /// How long its head is.
        var headLength: Int { bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? 0 }

        init(_ name: String, _ path: String, _ headers: String, _ body: String, isChunked: Bool) {
            let size = body.utf8.count
            let half = String(body.prefix(size / 2))
            let rest = String(body.dropFirst(size / 2))
            let chunks = [half, rest].map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
            let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)"
            let head = "POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)\(framing)\r\n\r\n"
            self.name = name
            bytes = Array((head + (isChunked ? chunks : body)).utf8)
        }
    }

    private static let multipart = "Content-Type: multipart/form-data; boundary=XyZ\r\n"
    private static let form = """
        --XyZ\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r
        --XyZ\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n\u{1}--Xy\r\n\r
        --XyZ--\r\n
        """

    private static let uploads = [
        Upload("bytes by their length", "/bytes", "", "hello, world", isChunked: false),
        Upload("bytes in chunks", "/bytes", "", "hello, world", isChunked: true),
        Upload("a form by its length", "/form", multipart, form, isChunked: false),
        Upload("a form in chunks", "/form", multipart, form, isChunked: true),
    ]

    private static func server(_ store: Store) -> WebServer {
        var server = WebServer(port: 0)
        server.get("/") { _ in "here" }
        server.post("/bytes") { request in
            try await store.keep { for try await piece in request.body { #expect(!piece.isEmpty) } }
        }
        server.post("/form") { request in
            try await store.keep {
                for try await part in try request.multipart() {
                    for try await piece in part { #expect(!piece.isEmpty) }
                }
            }
        }
        return server
    }

    @Test("Whole, it is kept", arguments: uploads)
    func whole(upload: Upload) async throws {
        let store = Store()
        try await Self.server(store).test { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: upload.bytes)
            #expect(try await connection.response().status == .created)
            await connection.close()
        }
        #expect(store.state.withLock(\.kept) == 1)
    }

    @Test("Cut at each byte by an end, its handler sees that and nothing is kept", arguments: uploads)
    func ended(upload: Upload) async throws {
        let store = Store()
        try await Self.server(store).test { client async throws in
            let bystander = await client.connect()
            for count in 0..<upload.bytes.count {
                let connection = await client.connect()
                try await connection.send(raw: upload.bytes.prefix(count))
                await connection.finishWriting()
                let answer = String(decoding: try await connection.receiveAll(), as: UTF8.self)
                let isBegun = count >= upload.headLength
                #expect(isBegun ? answer.hasPrefix("HTTP/1.1 400 ") : answer.isEmpty, "\(count): \(answer)")
                #expect(store.state.withLock { $0.open } == 0, "\(count)")
                await connection.close()
            }
            #expect(try await bystander.get("/").text == "here")
        }
        Self.expectNoneKept(store, of: upload)
        for error in store.state.withLock(\.failures) {
            #expect((error as? HTTPProtocolError)?.code == .truncated, "\(error)")
        }
    }

    @Test("Cut at each byte by a reset, its handler sees that and nothing is kept", arguments: uploads)
    func reset(upload: Upload) async throws {
        let store = Store()
        let log = RecordedLog(from: .warning)
        var server = Self.server(store)
        server.logger = log.logger
        // A busy machine is told of, too.
        server.blockedLoopThreshold = nil
        try await server.test { client async throws in
            let bystander = await client.connect()
            for count in 0..<upload.bytes.count {
                let connection = await client.connect()
                try await connection.send(raw: upload.bytes.prefix(count))
                await client.loop.settle()
                await connection.reset()
                await client.loop.settle()
                #expect(store.state.withLock { $0.open } == 0, "\(count)")
            }
            #expect(try await bystander.get("/").text == "here")
        }
        Self.expectNoneKept(store, of: upload)
        for error in store.state.withLock(\.failures) { #expect(error is CancellationError, "\(error)") }
        // Anybody can do that all the time.
        #expect(log.entries.map(\.message) == [])
    }

    @Test("Left by a client that falls silent, it is given up in time", arguments: uploads)
    func silent(upload: Upload) async throws {
        let store = Store()
        try await Self.server(store).test { client async throws in
            var connections: [TestConnection] = []
            for count in 1..<upload.bytes.count {
                let connection = await client.connect()
                try await connection.send(raw: upload.bytes.prefix(count))
                connections.append(connection)
            }
            await client.loop.settle()
            #expect(store.state.withLock { $0.open } == upload.bytes.count - upload.headLength)
            await client.clock.advance(by: .seconds(10))
            #expect(store.state.withLock { $0.open } == 0)
            for connection in connections {
                #expect(try await connection.response().status == .requestTimeout)
                await connection.close()
            }
            #expect(try await client.get("/").text == "here")
        }
        Self.expectNoneKept(store, of: upload)
        for error in store.state.withLock(\.failures) {
            #expect((error as? HTTPProtocolError)?.code == .timeout, "\(error)")
        }
    }

    /// Each client whose head had come was told of by an error, and no other.
    private static func expectNoneKept(_ store: Store, of upload: Upload) {
        let state = store.state.withLock { ($0.open, $0.kept, $0.failures.count) }
        #expect(state == (0, 0, upload.bytes.count - upload.headLength))
    }
}
