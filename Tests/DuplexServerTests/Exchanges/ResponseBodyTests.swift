// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import HTTPTypes
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
