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
        #expect(throws: ProtocolError.self) {
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
