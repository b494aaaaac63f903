// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@Suite("Clients that send the same head again")
struct RepeatedHeadTests {
    private enum Note: RequestKey {
        typealias Value = Int
    }

    /// What handlers have seen of the heads.
    private final class Heads: Sendable {
        private struct Head {
            weak var text: RequestHeadText?
            var id: ObjectIdentifier
        }

        private let heads = Mutex<[Head]>([])

        var ids: [ObjectIdentifier] { heads.withLock { $0.map(\.id) } }
        /// How many are still kept by somebody.
        var keptCount: Int { heads.withLock { $0.count { $0.text != nil } } }

        func note(_ request: Request) {
            let text = request.head.text
            heads.withLock { $0.append(Head(text: text, id: ObjectIdentifier(text))) }
        }
    }

    private static let again = "GET /again HTTP/1.1\r\nHost: localhost\r\nX: y\r\n\r\n"

    private static func configure(_ server: inout WebServer, _ heads: Heads) {
        server.get("/again") { request in
            heads.note(request)
            let before = request[Note.self]
            request[Note.self] = 1
            return "\(before ?? 0) \(request.headers.count)"
        }
        server.get("/first") { _ in "" }
        server.webSocket("/socket") { _ in }
    }

    @Test("Requests of one connection share what was read once, nothing that was noted, and nothing with others")
    func sharing() async throws {
        let heads = Heads()
        try await withServer {
            Self.configure(&$0, heads)
        } _: { address in
            let (one, other) = (try await RawPeer.connect(to: address), try await RawPeer.connect(to: address))
            for peer in [one, other, one] {
                #expect(try await peer.response(to: Self.again).text == "0 2")
            }
            try await one.send(Self.again + Self.again)
            for _ in 0..<2 { #expect(try await one.readResponse().text == "0 2") }
            let ids = heads.ids
            #expect(ids[0] == ids[2] && ids[0] == ids[3] && ids[0] == ids[4] && ids[0] != ids[1])
        }
    }

    @Test("What was kept of a connection goes with it", arguments: ["closed", "reset", "cut", "a WebSocket"])
    func ends(way: String) async throws {
        let heads = Heads()
        try await withServer {
            Self.configure(&$0, heads)
        } _: { address in
            // The head of the first request for a host is kept by itself.
            let first = try await RawPeer.connect(to: address)
            #expect(try await first.response(to: "GET /first HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200)
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: Self.again).text == "0 2")
            #expect(heads.keptCount == 1)
            switch way {
            case "closed": await peer.close()
            case "reset": await peer.reset()
            case "cut": try await peer.send("\0\r\n\r\n")
            default:
                try await peer.send(
                    """
                    GET /socket HTTP/1.1\r
                    Host: localhost\r
                    Connection: Upgrade\r
                    Upgrade: websocket\r
                    Sec-WebSocket-Version: 13\r
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                    \r

                    """
                )
            }
            #expect(await comesTrue { heads.keptCount == 0 })
        }
    }
}
