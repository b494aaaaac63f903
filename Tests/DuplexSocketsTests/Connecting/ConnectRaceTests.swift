// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ConnectRaceTests {
    /// Runs a race on a loop of its own, which has to hold nothing afterwards.
    private func report(_ addresses: [SocketAddress], _ options: ConnectOptions) async throws -> ConnectRace.Report {
        let loop = try EventLoop()
        let report = await withCheckedContinuation { continuation in
            loop.execute { core in
                do throws(SocketError) {
                    try ConnectRace(addresses, core: core, options: options) { report in
                        #expect(core.watchedCount == 0 && core.timerCount == 0)
                        continuation.resume(returning: report)
                    }.start()
                } catch {
                    continuation.resume(returning: ConnectRace.Report(result: .failure(error), attempts: []))
                }
            }
        }
        await loop.stop()
        return report
    }

    private func race(_ addresses: [SocketAddress], within timeout: Duration = .seconds(20)) async throws -> Int32 {
        try await report(addresses, ConnectOptions(timeout: timeout)).result.get()
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
                let race = try ConnectRace([address, second], core: core, options: ConnectOptions()) { _ in
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
