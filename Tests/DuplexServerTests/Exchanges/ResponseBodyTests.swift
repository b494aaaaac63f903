// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@Suite struct ResponseBodyTests {
    @Test("Bytes and texts are at hand and have a length; what is written has one if it was given")
    func lengths() {
        #expect(ResponseBody.bytes([1, 2]).count == 2 && ResponseBody.bytes([1, 2]).bytes == [1, 2])
        #expect(ResponseBody.text("ü").count == 2 && ("ab" as ResponseBody).bytes == Array("ab".utf8))
        #expect(ResponseBody.none.count == 0)
        #expect(ResponseBody.writer { _ in }.count == nil && ResponseBody.writer(length: 3) { _ in }.count == 3)
        #expect(ResponseBody.writer { _ in }.bytes == nil)
    }

    @Test("A sequence is sent piece by piece, in chunks, and by its length where that is given")
    func sequence() async throws {
        try await withServer { server in
            for (path, length) in [("/chunks", nil), ("/length", 6)] as [(String, Int?)] {
                server.get(path) { _ in
                    let (pieces, add) = AsyncStream<[UInt8]>.makeStream()
                    for piece in ["ab", "", "cdef"] { add.yield(Array(piece.utf8)) }
                    add.finish()
                    return Response(body: .sequence(pieces, length: length))
                }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("GET /chunks HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await peer.readHead().contains("Transfer-Encoding: chunked\r\n"))
            let body = "2\r\nab\r\n4\r\ncdef\r\n0\r\n\r\n"
            #expect(try await peer.read(exactly: body.utf8.count) == Array(body.utf8))
            #expect(try await peer.response(to: "GET /length HTTP/1.1\r\nHost: a\r\n\r\n").text == "abcdef")
        }
    }

    @Test("HEAD has the head of the response and nothing of its body, whatever kind it is")
    func head() async throws {
        try await withServer { server in
            server.get("/written") { _ in Response(body: .writer(length: 3) { try await $0.write("abc") }) }
            server.get("/chunks") { _ in Response { try await $0.write("abc") } }
            server.get("/text") { _ in "abc" }
            server.get("/endless") { _ in Response { writer in while true { try await writer.write("more") } } }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            for (path, length) in [("/written", "3"), ("/chunks", nil), ("/endless", nil), ("/text", "3")] {
                try await peer.send("HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                let response = try await peer.readResponse(to: "HEAD")
                #expect(response.status == 200 && response["Content-Length"] == length)
            }
            #expect(try await peer.response(to: "GET /text HTTP/1.1\r\nHost: a\r\n\r\n").text == "abc")
        }
    }
}

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
        let (errors, tell) = AsyncStream<HTTPProtocolError.Code?>.makeStream()
        try await withServer { server in
            server.get("/") { _ in
                Response(
                    body: .writer(length: 2) { writer in
                        do { try await writer.write("abc") } catch { tell.yield((error as? HTTPProtocolError)?.code) }
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

@Suite(.timeLimit(minutes: 1)) struct ResponseFileTests {
    /// Runs the body with a file of so many bytes, which is removed behind it.
    private func withFile(_ count: Int, _ body: (String, [UInt8]) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "duplex-file-\(UUID().uuidString)"
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path, bytes)
    }

    @Test("A file and a part of one are sent, several times and one after the other on a connection")
    func files() async throws {
        try await withFile(300_000) { path, bytes in
            let whole = try ResponseBody.file(path)
            try await withServer { server in
                server.get("/whole") { _ in Response(body: whole) }
                server.get("/part") { _ in Response(body: try .file(path, offset: 100_000, count: 7)) }
                server.get("/none") { _ in Response(body: try .file(path, offset: 300_000)) }
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                for _ in 0..<2 {
                    #expect(try await peer.response(to: "GET /whole HTTP/1.1\r\nHost: a\r\n\r\n").body == bytes)
                    let part = try await peer.response(to: "GET /part HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(part.body == Array(bytes[100_000..<100_007]))
                    #expect(try await peer.response(to: "GET /none HTTP/1.1\r\nHost: a\r\n\r\n").body == [])
                }
                try await peer.send("HEAD /whole HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await peer.readResponse(to: "HEAD")["Content-Length"] == "300000")
                #expect(try await peer.response(to: "GET /part HTTP/1.1\r\nHost: a\r\n\r\n").body.count == 7)
            }
        }
    }

    @Test("A file that can't be read is an error when the body is made")
    func unreadable() async throws {
        try await withFile(10) { path, _ in
            for make in [
                { try ResponseBody.file(path + "-missing") }, { try ResponseBody.file(path, offset: 5, count: 6) },
                { try ResponseBody.file("/") },
            ] {
                #expect {
                    _ = try make()
                } throws: {
                    ($0 as? SocketError)?.code == .unreadableFile
                }
            }
        }
    }

    @Test("A file that is cut short while it is sent cuts the connection")
    func cutShort() async throws {
        try await withFile(0) { path, _ in
            let size = 64 * 1_024 * 1_024
            try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: UInt64(size))
            try await withServer { server in
                server.get("/") { _ in Response(body: try .file(path)) }
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                try await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await peer.readHead().contains("Content-Length: \(size)\r\n"))
                // The client reads nothing, so most of the file is still to be sent.
                try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 1)
                await #expect(throws: (any Error).self) {
                    for _ in 0..<64 { _ = try await peer.read(exactly: 1_024 * 1_024) }
                }
            }
        }
    }

    @Test(
        "A file that has become shorter before it is sent is a 500, which middleware sees once",
        arguments: [true, false]
    )
    func shorter(hasSteps: Bool) async throws {
        try await withFile(1_000) { path, _ in
            let whole = try ResponseBody.file(path)
            let seen = Atomic(0)
            try await withServer { server in
                if hasSteps { server.use(.after { _, _ in seen.add(1, ordering: .relaxed) }) }
                server.get("/now") { _ in Response(body: whole) }
                server.get("/later") { _ async throws in Response(body: whole) }
            } _: { address in
                try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 999)
                let peer = try await RawPeer.connect(to: address)
                for path in ["/now", "/later"] {
                    #expect(try await peer.response(to: "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n").status == 500)
                }
                #expect(seen.load(ordering: .relaxed) == (hasSteps ? 2 : 0))
            }
        }
    }
}
