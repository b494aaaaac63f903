// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ConnectRaceTests {
    private func race(_ addresses: [SocketAddress], within timeout: Duration = .seconds(20)) async throws -> Int32 {
        let loop = try EventLoop()
        let result = await withCheckedContinuation { continuation in
            loop.execute { core in
                ConnectRace(addresses, core: core, timeout: timeout) { continuation.resume(returning: $0) }.start()
            }
        }
        await loop.stop()
        return try result.get()
    }

    @Test("Families take turns, the family of the first address first")
    func interleaving() throws {
        let four = try (1...3).map { try SocketAddress("127.0.0.\($0)", port: 1) }
        let six = try (1...2).map { try SocketAddress("::\($0)", port: 1) }
        #expect(ConnectRace.interleaved(six + four) == [six[0], four[0], six[1], four[1], four[2]])
        #expect(ConnectRace.interleaved(four + six) == [four[0], six[0], four[1], six[1], four[2]])
        #expect(ConnectRace.interleaved([]) == [])
    }

    @Test("Addresses that refuse are passed over at once, and every refusal is reported")
    func refused() async throws {
        let (refusing, address) = try Descriptors.refusing()
        defer { SystemCalls.close(refusing) }
        // With the delay between attempts, forty of them would take longer than they are given.
        let addresses = [SocketAddress](repeating: address, count: 40)
        await #expect { try await race(addresses, within: .seconds(8)) } throws: {
            let error = $0 as? SocketError
            return error?.code == .cannotConnect && error?.causes.count == 40
                && error?.causes.allSatisfy { $0.errno == 111 && $0.message.contains("\(address)") } == true
        }
    }

    @Test("The next address wins when one refuses and one gives no answer, and the loser is closed")
    func failover() async throws {
        let (refusing, refused) = try Descriptors.refusing()
        let (silent, unanswered) = try Descriptors.silent()
        let (listener, address) = try Descriptors.listener()
        defer { for descriptor in silent + [refusing, listener] { SystemCalls.close(descriptor) } }
        let descriptor = try await race([refused, unanswered, address])
        #expect(SocketAddress.remote(of: descriptor) == address)
        SystemCalls.close(descriptor)
    }

    @Test("An address that gives no answer fails the race at its deadline")
    func deadline() async throws {
        let (silent, address) = try Descriptors.silent()
        defer { for descriptor in silent { SystemCalls.close(descriptor) } }
        await #expect { try await race([address], within: .milliseconds(60)) } throws: {
            let error = $0 as? SocketError
            return error?.code == .timedOut && error?.causes.map(\.code) == [.timedOut]
        }
    }

    @Test("A race that is cancelled tells nobody and leaves nothing open")
    func cancelling() async throws {
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        let second = address
        try await withLoop { loop in
            try await loop.run { core in
                let race = ConnectRace([address, second], core: core, timeout: .seconds(20)) { _ in
                    Issue.record("A race that was cancelled has told its end.")
                }
                race.start()
                race.cancel()
            }
            let far = try Descriptors.accept(listener)
            #expect(Descriptors.read(far) == [])
            SystemCalls.close(far)
        }
    }
}
