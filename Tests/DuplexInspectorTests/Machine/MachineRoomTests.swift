// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging
import Testing

@testable import DuplexInspector

@Suite("The part of the inspector for the machine", .timeLimit(.minutes(1)))
struct MachineRoomTests {
    private static let fields: HTTPFields = [.authorization: "Bearer the-token-of-this-test"]

    private static var server: WebServer {
        var server = WebServer(port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        var options = InspectorOptions()
        options.access = .ownToken("the-token-of-this-test")
        server.inspector("/inspect", options)
        return server
    }

    @Test("The list of descriptors")
    func descriptors() async throws {
        try await WebServer.testing(Self.server) { client async throws in
            let answer = try await client.get("/inspect/machine/descriptors", fields: Self.fields)
            #expect(
                answer.status == .ok && answer.text.hasPrefix(#"{"descriptors":[{"number":0,"kind":""#),
                "\(answer.text)"
            )
        }
    }

    @Test("Viewers get the state each second")
    func live() async throws {
        try await WebServer.testing(Self.server) { client async throws in
            var options = WebSocketOptions()
            options.headers = Self.fields
            let socket = try await client.webSocket("/inspect/live", options: options)
            try await socket.send(#"{"watch":1,"topic":"machine"}"#)
            for _ in 0..<3 {
                guard case .text(let text) = try await socket.receive() else { continue }
                for name in ["process", "machine", "loops", "network"] {
                    #expect(text.contains("\"\(name)\":"), "\(text)")
                }
                await client.clock.advance(by: .seconds(1))
            }
            await socket.close()
        }
    }
}
