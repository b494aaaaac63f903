// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestNetworks
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

    #if os(Linux)
    @Test(
        "Viewers are told that an interface comes, has another address, loses that and goes",
        .enabled(if: TestNetwork.obstacle == nil, "Network namespaces can't be made here.")
    )
    func network() async throws {
        try await WebServer.testing(Self.server) { client async throws in
            var options = WebSocketOptions()
            options.headers = Self.fields
            let socket = try await client.webSocket("/inspect/live", options: options)
            let page = LivePage(socket: socket)
            try await page.watch("machine")
            _ = try await page.next()
            let name = try await TestNetwork.with { network in
                let (name, other) = (network.interface, "203.0.113.77")
                var interface = try await Self.interface(name, of: page, after: "\(name) is up")
                #expect(interface?["addresses"]?.values.contains(.string(network.near())) == true)
                try network.change(other + "/24", isAdded: true)
                interface = try await Self.interface(name, of: page, after: "\(name) has \(other)")
                #expect(interface?["addresses"]?.values.contains(.string(other)) == true)
                try network.change(other + "/24", isAdded: false)
                interface = try await Self.interface(name, of: page, after: "\(name) hasn't \(other) any more")
                #expect(interface?["addresses"]?.values.contains(.string(other)) == false)
                return name
            }
            #expect(try await Self.interface(name, of: page, after: "\(name) is down") == nil)
            await socket.close()
        }
    }

    /// An interface as viewers see it once a change was told.
    private static func interface(
        _ name: String,
        of page: LivePage,
        after change: String
    ) async throws -> ReadJSON? {
        while true {
            let network = try await page.next().items?.first?["network"]
            guard network?["changes"]?.values.contains(where: { $0["text"]?.text == change }) == true else { continue }
            return network?["interfaces"]?.values.first { $0["name"]?.text == name }
        }
    }
    #endif
}
