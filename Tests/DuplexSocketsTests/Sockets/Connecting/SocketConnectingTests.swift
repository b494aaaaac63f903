// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite struct SocketConnectingTests {
    @Test("A socket knows how its connection came about; one that was accepted has nothing to tell")
    func timeline() async throws {
        try await withPair { near, far in
            #expect(near.timeline?.attempts.map(\.outcome) == [.connected])
            #expect(near.timeline?.attempts.first?.address == near.remoteAddress)
            #expect(near.timeline?.nameLookup == nil)
            #expect(far.timeline == nil)
        }
    }

    @Test("An error tells what was tried: the causes with their reasons, and the timeline")
    func errors() async throws {
        let (refusing, address) = try Descriptors.refusing()
        defer { SystemCalls.close(refusing) }
        var options = ConnectOptions(timeout: .limit(seconds: 20))
        options.resolver = ClosureResolver(literals: ["127.0.0.1", "::1"])
        let endpoint = Endpoint.host("name.test", port: address.port)
        let error = await connectError(endpoint, options)
        #expect(error?.code == .cannotConnect && error?.message.hasPrefix("\(endpoint): ") == true)
        #expect(error?.causes.map(\.errno) == [111, 111])
        #expect(error?.timeline?.attempts.map(\.outcome) == [.failed(errno: 111), .failed(errno: 111)])
        #expect(error?.timeline?.attempts.map(\.address.isIPv6) == [true, false])
    }

    @Test("A URL leads to the listener", arguments: ["tcp://127.0.0.1:", "TCP://localhost:", "tcp://%6Cocalhost:"])
    func url(prefix: String) async throws {
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        let socket = try await Socket.connect(to: Endpoint("\(prefix)\(address.port)"))
        #expect(socket.remoteAddress == address)
        await socket.reset()
    }
}
