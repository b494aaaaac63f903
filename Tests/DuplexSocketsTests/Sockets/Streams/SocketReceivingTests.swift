// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct SocketReceivingTests {
    @Test("Large and small pieces in turn arrive whole, whichever memory they are received into")
    func sizes() async throws {
        try await withPair { near, far in
            var generator = SeededGenerator(seed: 7)
            let sizes = (0..<300).map { _ in Int.random(in: 1...4, using: &generator) == 1 ? 100_000 : 10 }
            let text = (0..<sizes.reduce(0, +)).map { UInt8(truncatingIfNeeded: $0 &* 13) }
            async let written: Void = {
                var rest = text[...]
                for size in sizes {
                    try await near.write(Array(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                await near.finishWriting()
            }()
            var received: [UInt8] = []
            while let bytes = try await far.read() {
                #expect(bytes.count <= 65_536)
                received += bytes
            }
            try await written
            #expect(received == text)
            #expect(await far.bytesReceived == UInt64(text.count))
        }
    }

    @Test("A read up to a delimiter behind large pieces finds it")
    func otherGoals() async throws {
        try await withPair { near, far in
            let large = [UInt8](repeating: 65, count: 200_000)
            async let written: Void = near.write(large + Array("end\n".utf8))
            var count = 0
            while count < large.count {
                count += try await far.read(upTo: min(65_536, large.count - count))?.count ?? .max
            }
            #expect(try await far.readLine() == "end")
            try await written
            await near.reset()
            await #expect(throws: SocketError.self) { while try await far.read() != nil {} }
        }
    }
}
