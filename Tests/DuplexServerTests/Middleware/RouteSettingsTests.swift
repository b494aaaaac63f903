// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite struct RouteSettingsTests {
    @Test("Options narrow the settings in their order, the last one counting, and leave the rest")
    func narrowing() {
        let settings = RouteSettings().with([
            .limits(.local), .bodySize(3), .subprotocols("a"), .subprotocols("b", isRequired: true), .origins(.any),
            .compression(.required), .pings(.disabled), .closeTimeout(.seconds(1)),
        ])
        #expect(settings.http.bodySize == 3 && settings.messages.messageSize == MessageLimits.local.messageSize)
        #expect(settings.subprotocols == ["b"] && settings.requiresSubprotocol)
        #expect(settings.compression == WebSocketCompression.required && settings.closeTimeout == .seconds(1))
        #expect(RouteSettings().with([]).subprotocols.isEmpty)
    }
}

@Suite("Clients whose compression doesn't work", .timeLimit(minutes: 1))
struct CompressionQuirksTests {
    private static func safari(_ version: String) -> String {
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \(version) Safari/605.1.15"
    }

    /// What a server with these quirks answers a client of that name that offers compression: the status and the field.
    private static func answer(
        _ userAgent: String?,
        _ quirks: CompressionQuirks = .known,
        _ compression: WebSocketCompression = .enabled
    ) async throws -> (status: Int, field: String?) {
        try await withServer { server in
            server.webSockets.compression = compression
            server.webSockets.compressionQuirks = quirks
            server.webSocket("/") { _ in }
        } _: { address in
            let offer = "Sec-WebSocket-Extensions: permessage-deflate"
            let name = userAgent.map { "\r\nUser-Agent: \($0)" } ?? ""
            let peer = try await RawPeer.connect(to: address)
            let request = RawPeer.upgradeRequest("/", offer + name)
            let response = try await peer.response(to: request)
            await peer.close()
            return (response.status, response["Sec-WebSocket-Extensions"])
        }
    }

    @Test("The offer of Safari 15.0 to 15.3 is declined", arguments: ["15", "15.0", "15.1", "15.2.1", "15.3"])
    func declined(version: String) async throws {
        let answer = try await Self.answer(Self.safari("Version/\(version)"))
        #expect(answer.status == 101 && answer.field == nil)
    }

    @Test(
        "That of others isn't",
        arguments: [
            nil, "", "curl/8.0", safari("Version/15.4"), safari("Version/15.10"), safari("Version/14.1.2"),
            safari("Version/16.0"), safari("Version/15.x"), safari("Version/"), safari("Chrome/15.0.0.0"),
            "Version/15.1",
        ]
    )
    func accepted(userAgent: String?) async throws {
        let answer = try await Self.answer(userAgent)
        #expect(answer.status == 101 && answer.field != nil)
    }

    @Test("The table can be replaced, and asked")
    func replaced() async throws {
        let broken = Self.safari("Version/15.1")
        #expect(try await Self.answer(broken, .none).field != nil)
        let own = CompressionQuirks { request in
            request.headers[.userAgent] == "curl/8.0" || CompressionQuirks.known.decline(request)
        }
        for name in ["curl/8.0", broken] { #expect(try await Self.answer(name, own).field == nil) }
        #expect(try await Self.answer("curl/8.1", own).field != nil)
    }

    @Test("Where compression is required, such a client is refused")
    func required() async throws {
        #expect(try await Self.answer(Self.safari("Version/15.1"), .known, .required).status == 400)
    }
}
