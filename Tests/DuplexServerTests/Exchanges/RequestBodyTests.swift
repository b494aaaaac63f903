// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWire
import Testing

@Suite struct RequestBodyTests {
    @Test("The length is known where it was announced, and 0 where there is no body")
    func length() async throws {
        try await withServer { server in
            server.post("/") { request in
                let length = request.body.length.map { "\($0)" } ?? "unknown"
                return "\(length) \(try await request.body.collect().count)"
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let head = "POST / HTTP/1.1\r\nHost: a\r\n"
            #expect(try await peer.response(to: head + "\r\n").text == "0 0")
            #expect(try await peer.response(to: head + "Content-Length: 2\r\n\r\nab").text == "2 2")
            let chunked = head + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
            #expect(try await peer.response(to: chunked).text == "unknown 1")
        }
    }

    @Test("A second iterator goes on where the first one stopped, and the end stays the end")
    func iterators() async throws {
        try await withServer { server in
            server.post("/") { request in
                for try await _ in request.body { break }
                let rest = try await request.body.collect()
                let end = try await request.body.collect()
                return "\(rest.count) \(end.count)"
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let chunked = "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"
            #expect(try await peer.response(to: "POST / HTTP/1.1\r\nHost: a\r\n" + chunked).text == "2 0")
        }
    }

    @Test("A body that was left can't be read behind the response")
    func behindResponse() async throws {
        let (bodies, keep) = AsyncStream<RequestBody>.makeStream()
        try await withServer { server in
            server.post("/") { request in
                keep.yield(request.body)
                return "done"
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na"
            #expect(try await peer.response(to: request).text == "done")
            for await body in bodies {
                await #expect(throws: CancellationError.self) { _ = try await body.collect() }
                break
            }
        }
    }

    @Test("Exactly as many bytes are taken as are allowed, in one piece and in several, and not one more")
    func limit() async throws {
        try await withServer { server in
            server.post("/") { request in "\(try await request.body.collect(limit: 5).count)" }
        } _: { address in
            let head = "POST / HTTP/1.1\r\nHost: a\r\n"
            for (body, status, text) in [
                ("Content-Length: 5\r\n\r\nhello", 200, "5"), ("Content-Length: 6\r\n\r\nhello!", 413, nil),
                ("Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 200, "5"),
                ("Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n4\r\nllo!\r\n0\r\n\r\n", 413, nil),
            ] as [(String, Int, String?)] {
                let peer = try await RawPeer.connect(to: address)
                let response = try await peer.response(to: head + body)
                #expect(response.status == status && (text == nil || response.text == text), "\(body)")
            }
        }
    }
}
