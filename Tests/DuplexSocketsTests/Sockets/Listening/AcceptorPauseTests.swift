// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging
import Testing

@testable import DuplexSockets

@Suite("A listener whose connections nobody takes")
struct AcceptorPauseTests {
    private final class Counts {
        var mayAccept = false
        var asked = 0
        var accepted: [Int32] = []
        var acceptor: Acceptor?
    }

    @Test("Nothing is accepted while there is no room, and what waits is taken when there is some")
    func pausing() async throws {
        try await withManualLoop { loop in
            let (listener, address) = try Descriptors.listener()
            let counts = try await loop.run { core in
                let counts = Counts()
                let acceptor = Acceptor(descriptor: listener, core: core, logger: Logger(label: "test")) {
                    [unowned counts] in
                    counts.asked += 1
                    return counts.mayAccept
                } accepted: { [unowned counts] descriptor, _ in
                    counts.accepted.append(descriptor)
                }
                counts.acceptor = acceptor
                try acceptor.start()
                return LoopBound(counts, on: loop.thread)
            }
            let client = try SystemCalls.streamSocket(.ipv4)
            defer { SystemCalls.close(client) }
            _ = SystemCalls.connect(client, to: address)
            #expect(Descriptors.isReady(client, for: 4))
            await loop.advance(by: .zero)
            for asked in 1...3 {
                #expect(try await loop.run { _ in counts.value.asked } == asked)
                await loop.advance(by: Acceptor.pause)
            }
            let accepted = try await loop.run { _ in counts.value.accepted }
            #expect(accepted.isEmpty)
            try await loop.run { _ in counts.value.mayAccept = true }
            await loop.advance(by: Acceptor.pause)
            let taken = try await loop.run { _ in counts.value.accepted }
            #expect(taken.count == 1)
            for descriptor in taken { SystemCalls.close(descriptor) }
            try await loop.run { _ in counts.value.acceptor?.close() }
        }
    }
}
