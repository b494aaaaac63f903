// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite struct NetworkInterfaceListeningTests {
    #if os(Linux)
    static let interface = "lo"
    #else
    static let interface = "lo0"
    #endif

    @Test("The loopback interface has 127.0.0.1, before all of IPv6, with the port that was given")
    func loopback() throws {
        let addresses = try NetworkInterface.addresses(of: Self.interface, port: 80)
        #expect(addresses.first?.description == "127.0.0.1:80")
        #expect(addresses.allSatisfy { $0.port == 80 })
        let families = addresses.map(\.isIPv6)
        #expect(families == families.sorted { !$0 && $1 })
    }

    @Test(
        "An interface that isn't there, and a port that is none, are refused",
        arguments: [("nope0", 80), (Self.interface, 65_536)]
    )
    func refusal(name: String, port: Int) {
        #expect {
            try NetworkInterface.addresses(of: name, port: port)
        } throws: {
            ($0 as? SocketError)?.code == .invalidAddress
        }
    }

    @Test("A listener of an interface is reached at each of its addresses, all with one port")
    func listening() async throws {
        let listener = try SocketListener.bind(.tcp(host: .interface(Self.interface), port: 0))
        let server = Task { try await listener.serve { socket in try await socket.write("hello\n") } }
        for address in try NetworkInterface.addresses(of: Self.interface, port: listener.localAddress.port) {
            let socket = try await Socket.connect(to: .address(address))
            #expect(try await socket.readLine(timeout: .limit(seconds: 10)) == "hello", "\(address)")
            await socket.close()
        }
        server.cancel()
        _ = await server.result
    }
}
