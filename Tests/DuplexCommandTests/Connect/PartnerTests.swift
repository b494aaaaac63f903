// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("Partners of a conversation", .timeLimit(minutes: 1))
struct PartnerTests {
    @Test("Lines of a stream go out with their ends, and come in without")
    func stream() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let server = Task {
            for try await socket in listener {
                let bytes = try await socket.read(until: "\r\n")
                try await socket.write("answer\nlast")
                await socket.close()
                return bytes
            }
            return nil
        }
        let socket = try await Socket.connect(to: .address(listener.localAddress))
        let partner = StreamPartner(socket: socket, lineEnd: "\r\n", limit: 100)
        try await partner.send("question")
        await partner.finishSending()
        #expect(try await server.value == Array("question\r\n".utf8))
        #expect(try await partner.next() == .text("answer"))
        #expect(try await partner.next() == .text("last"))
        #expect(try await partner.next() == nil)
        await listener.close()
    }
}
