// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexTestNetworks
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging
import Testing

@testable import DuplexInspector

@Suite("The part of the inspector for the machine", .timeLimit(minutes: 1))
struct MachineRoomTests {
    private static let headers: HTTPFields = [.authorization: "Bearer the-token-of-this-test"]

    private static var server: WebServer {
        var server = WebServer(port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        var options = InspectorOptions()
        options.access = .ownToken("the-token-of-this-test")
        server.inspector("/inspect", options: options)
        return server
    }

    @Test("The list of descriptors")
    func descriptors() async throws {
        try await Self.server.test { client async throws in
            let answer = try await client.get("/inspect/machine/descriptors", headers: Self.headers)
            let list = try answer.value(MachineRoom.Descriptors.self)
            #expect(answer.status == .ok && list.descriptors?.first?.number == 0 && list.count ?? 0 > 2, "\(list)")
        }
    }

    @Test("Viewers get the state each second")
    func live() async throws {
        try await Self.server.test { client async throws in
            var options = WebSocketOptions()
            options.headers = Self.headers
            let socket = try await client.webSocket("/inspect/live", options: options)
            try await socket.send(#"{"watch":1,"topic":"machine"}"#)
            for _ in 0..<3 {
                guard case .text(let text) = try await socket.receive() else { continue }
                let message: LiveMessage<MachineRoom.State> = try CompactJSON.value(of: text)
                #expect(message.items?.first?.loops.isEmpty == false, "\(text)")
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
        try await Self.server.test { client async throws in
            var options = WebSocketOptions()
            options.headers = Self.headers
            let socket = try await client.webSocket("/inspect/live", options: options)
            let page = LivePage(socket: socket)
            try await page.watch("machine")
            _ = try await page.next()
            let name = try await TestNetwork.with { network in
                let (name, other) = (network.interface, "203.0.113.77")
                try await Self.sees("is up", isAtOnce: false, of: name, on: page) {
                    $0?.contains(.string(network.near())) == true
                }
                try network.change(other + "/24", isAdded: true)
                try await Self.sees("has \(other)", of: name, on: page) { $0?.contains(.string(other)) == true }
                try network.change(other + "/24", isAdded: false)
                try await Self.sees("hasn't \(other) any more", of: name, on: page) {
                    $0?.contains(.string(other)) == false
                }
                return name
            }
            try await Self.sees("is down", isAtOnce: false, of: name, on: page) { $0 == nil }
            await socket.close()
        }
    }

    /// Waits until viewers were told of a change, and see the interface with the right addresses, or none: at once, or later.
    private static func sees(
        _ change: String,
        isAtOnce: Bool = true,
        of name: String,
        on page: LivePage,
        _ isRight: ([ReadJSON]?) -> Bool
    ) async throws {
        var isTold = false
        while true {
            guard let network = try await page.next().items?.first?["network"] else { continue }
            let changes = network["changes"]?.values ?? []
            isTold = isTold || changes.contains { $0["text"]?.text == "\(name) \(change)" }
            let interface = network["interfaces"]?.values.first { $0["name"]?.text == name }
            let isSeen = isRight(interface?["addresses"]?.values)
            if isTold, isAtOnce { #expect(isSeen, "\(change) is told and not to be seen") }
            if isTold, isSeen || isAtOnce { return }
        }
    }
    #endif
}

@Suite("The network of the machine")
struct NetworkWatchTests {
    @Test("The interface to the machine itself is there, with its address")
    func interfaces() async throws {
        let group = try EventLoopGroup(loops: 1)
        let state = NetworkWatch(on: group).state
        let own = state.interfaces?.first { $0.name == "lo" }
        #expect(own?.up == true && own?.addresses.first == "127.0.0.1", "\(state)")
        // What there is at the beginning is no change; others may change their interfaces meanwhile.
        #expect(state.watches && !state.changes.contains { $0.text.hasPrefix("lo ") }, "\(state)")
        let states = try NetworkInterface.states()
        #expect(Set(states.map(\.name)).count == states.count)
        await group.stop()
    }
}
