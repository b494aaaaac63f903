// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWire
import Testing

@Suite struct ResponseWriterTests {
    @Test("Any task may write, on any executor, and each piece stays whole")
    func otherTasks() async throws {
        try await withServer { server in
            server.get("/") { _ in
                Response { writer in
                    try await Task.detached { try await writer.write("from afar, ") }.value
                    try await writer.write([UInt8]("from here".utf8))
                }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n")
            let text = String(decoding: try await peer.readToEnd(), as: UTF8.self)
            #expect(text.hasSuffix("\r\n\r\nfrom afar, from here"))
        }
    }

    @Test("A writer that outlives its response writes nothing any more")
    func late() async throws {
        let (writers, keep) = AsyncStream<ResponseWriter>.makeStream()
        try await withServer { server in
            server.get("/") { _ in Response { writer in keep.yield(writer) } }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await peer.readHead()
            #expect(try await peer.read(exactly: 5) == Array("0\r\n\r\n".utf8))
            for await writer in writers {
                await #expect(throws: (any Error).self) { try await writer.write("late") }
                break
            }
            #expect(try await peer.response(to: "GET /no HTTP/1.1\r\nHost: a\r\n\r\n").status == 404)
        }
    }

    @Test("More than the announced length is an error of the writer's, and the connection is cut")
    func tooMuch() async throws {
        let (errors, tell) = AsyncStream<HTTPError.Code?>.makeStream()
        try await withServer { server in
            server.get("/") { _ in
                Response(
                    body: .writer(length: 2) { writer in
                        do { try await writer.write("abc") } catch { tell.yield((error as? HTTPError)?.code) }
                    }
                )
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            for await code in errors {
                #expect(code == .wrongLength)
                break
            }
        }
    }
}
