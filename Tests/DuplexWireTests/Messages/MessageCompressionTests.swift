// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import Testing

@testable import DuplexWire

@Suite("What is kept for compression")
struct MessageCompressionTests {
    private static func compression(threshold: Int = 0, deflates: Bool = true) -> MessageCompression {
        let agreement = DeflateAgreement()
        if !deflates { return MessageCompression(agreement: agreement, inflater: Inflater(), deflater: nil) }
        return DeflatePool().compression(agreement, role: .server, settings: .init(), threshold: threshold)
    }

    @Test("The app's choice comes before the threshold; without a deflater nothing is compressed")
    func compresses() {
        let compression = Self.compression(threshold: 256)
        #expect(!compression.compresses(255, nil) && compression.compresses(256, nil))
        #expect(compression.compresses(0, true) && !compression.compresses(1_000, false))
        #expect(!Self.compression(deflates: false).compresses(1_000, true))
    }

    @Test("Without a limit any length is allowed")
    func unlimited() throws {
        let compression = Self.compression()
        // The most that the lengths of two frames come to; a limit refuses each of them.
        let length = UInt64(Int64.max / 2)
        compression.beginMessage(isCompressed: true)
        #expect(throws: WebSocketProtocolError.self) {
            try compression.beginFragment(length: length, limits: AssemblyLimits(.local))
        }
        for _ in 0..<2 { try compression.beginFragment(length: length, limits: AssemblyLimits(.unlimited)) }
        compression.endMessage(inflated: 0)
        #expect(compression.counts.bytesBeforeInflating == Int.max - 1)
    }

    @Test("Messages that arrived are counted")
    func counts() throws {
        let compression = Self.compression()
        compression.beginMessage(isCompressed: true)
        try compression.beginFragment(length: 30, limits: AssemblyLimits(.internet))
        try compression.beginFragment(length: 12, limits: AssemblyLimits(.internet))
        compression.endMessage(inflated: 100)
        #expect(!compression.isInflating)
        #expect(compression.counts.messagesInflated == 1)
        #expect(compression.counts.bytesBeforeInflating == 42 && compression.counts.bytesInflated == 100)
    }
}

@Suite("The memory that messages are inflated into")
struct InflationBufferTests {
    @Test("It is there once, empty, and neither too much is kept nor less than there is")
    func takes() {
        let buffer = InflationBuffer()
        #expect(buffer.take().capacity == 0)
        buffer.giveBack(Array(repeating: 1, count: 1_000))
        buffer.giveBack(Array(repeating: 2, count: 100))
        let taken = buffer.take()
        #expect(taken.isEmpty && taken.capacity >= 1_000)
        #expect(buffer.take().capacity == 0)
        buffer.giveBack(Array(repeating: 3, count: InflationBuffer.bound + 1))
        #expect(buffer.take().capacity == 0)
    }

    private static func session(
        _ role: WebSocketSession.Role,
        _ pool: DeflatePool,
        givesBack: Bool = false
    ) -> WebSocketSession {
        let settings = Deflater.Settings()
        let compression = pool.compression(DeflateAgreement(), role: role, settings: settings, givesBack: givesBack)
        let keys = role == .client ? MaskingKeys { 7 } : nil
        return WebSocketSession(role: role, maskingKeys: keys, compression: compression, now: Instant(nanoseconds: 1))
    }

    @Test("Messages of several connections that are given back have the same memory, and are what was sent")
    func shared() throws {
        let pool = DeflatePool()
        let texts = [String(repeating: "one ", count: 1_000), "two", String(repeating: "three ", count: 100)]
        var capacities: [Int] = []
        for text in texts + texts {
            let (client, server) = (Self.session(.client, DeflatePool()), Self.session(.server, pool, givesBack: true))
            let payload = Array(text.utf8)
            let frame = written(room: 10_000) { output in
                _ = client.compress(payload.span.raw) { client.encode(compressed: .text, $0, into: &output) }
            }
            var position = 0
            var event: WebSocketSession.Event?
            _ = changed(frame) { event = server.nextEvent(in: &$0, at: &position, now: Instant(nanoseconds: 1)) }
            guard case .message(.text, .assembled(let message)) = event else {
                Issue.record("no message")
                return
            }
            #expect(message == payload)
            capacities.append(message.capacity)
            server.compression?.buffer?.giveBack(message)
        }
        #expect(Set(capacities.dropFirst(1)).count == 1)
    }
}
