// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Testing

@testable import DuplexSockets

@Suite struct ReservedPortTests {
    @Test("Nobody answers there, until somebody listens, and again when they don't any more")
    func lifetime() async throws {
        let port = try ReservedPort()
        await #expect(throws: SocketError.self) { try await Socket.connect(to: .address(port.address)) }
        for _ in 0..<2 {
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: port.address.port))
            let socket = try await Socket.connect(to: .address(port.address))
            await socket.reset()
            await listener.close()
            #expect(await comesToRefuse(.address(port.address)))
        }
    }
}
