// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexDeflate
import DuplexSockets
import DuplexTestTimes
import Testing

extension PeerTests {
    /// What a server of ours, in a process of its own, holds in memory while clients send bombs and floods, or don't read.
    @Suite(.serialized)
    struct FloodTests {
        /// What a client sends, and the code that it is sent away with.
        struct Attack: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let frames: [UInt8]
            let code: UInt16
        }

        private static let attacks: [Attack] = {
            let bomb = deflated(zeros: 20_000_000)
            let harmless = deflated(zeros: 500_000)
            let fragment = frame(0x00, [])
            return [
                Attack(testDescription: "a bomb", frames: frame(0xC2, bomb), code: 1_009),
                Attack(
                    testDescription: "a bomb in fragments",
                    frames: frame(0x42, Array(bomb.prefix(10))) + frame(0x00, Array(bomb[10..<15_000]))
                        + frame(0x80, []),
                    code: 1_009
                ),
                Attack(
                    testDescription: "a bomb with context",
                    frames: frame(0xC2, harmless) + frame(0xC2, harmless) + frame(0xC2, bomb),
                    code: 1_009
                ),
                Attack(
                    testDescription: "empty fragments",
                    frames: frame(0x02, []) + (0..<5_000).flatMap { _ in fragment },
                    code: 1_008
                ),
                Attack(
                    testDescription: "pings",
                    frames: (0..<3_000).flatMap { _ in frame(0x89, [UInt8](repeating: 0, count: 125)) } + close,
                    code: 1_000
                ),
                Attack(testDescription: "closes", frames: (0..<2_000).flatMap { _ in close }, code: 1_000),
                Attack(
                    testDescription: "tiny frames",
                    frames: (0..<5_000).flatMap { _ in frame(0x82, [1]) } + close,
                    code: 1_000
                ),
            ]
        }()

        private static let close = frame(0x88, [0x03, 0xE8])

        private static func deflated(zeros count: Int) -> [UInt8] {
            let zeros = [UInt8](repeating: 0, count: count)
            var payload: [UInt8] = []
            _ = Deflater(.init(windowBits: 15, level: 9)).deflate(zeros.span.raw, into: &payload)
            return payload
        }

        /// A frame with a mask of zeros, which changes nothing (RFC 6455 section 5.2).
        private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
            let count = payload.count
            let length =
                count < 126
                ? [0x80 | UInt8(count)]
                : count < 65_536
                    ? [0xFE, UInt8(count >> 8), UInt8(count & 0xFF)]
                    : [0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
            return [first] + length + [0, 0, 0, 0] + payload
        }

        @Test(
            "Bombs and floods get the right code, leave the memory as it was, and disturb nobody",
            .timeLimit(minutes: 2),
            arguments: attacks
        )
        func attack(_ attack: Attack) async throws {
            try await DuplexServe.withRunning(["--quiet", "--compression", "on"]) { server in
                try await Bystanders.withBystanders(of: server.port) {
                    // As many as are measured, so that all that a loop keeps for the next is there.
                    try await Self.launch(attack, times: 50, server)
                    // A leak grows each time. What the allocator keeps grows when more come at the same moment than before.
                    var growths: [Int] = []
                    repeat {
                        let memory = try server.residentMemory()
                        try await Self.launch(attack, times: 50, server)
                        growths.append(try server.residentMemory() - memory)
                    } while growths.count < 4 && growths[growths.count - 1] >= DuplexServe.memoryTolerance
                    let least = growths.min() ?? 0
                    #expect(least < DuplexServe.memoryTolerance, "resident memory grew each time, in bytes: \(growths)")
                }
            }
        }

        private static func launch(_ attack: Attack, times count: Int, _ server: DuplexServe) async throws {
            let threads = 5
            try await onThreads(threads) { thread in
                for number in 0..<(count / threads) {
                    let connection = try RawConnection(port: server.port, source: UInt8(1 + thread))
                    connection.send(HostileStream.handshake)
                    let answer = connection.receive() ?? []
                    #expect(answer.starts(with: "HTTP/1.1 101".utf8))
                    connection.send(attack.frames)
                    let last = connection.receiveToEnd().suffix(200)
                    #expect(Self.closeCode(in: last) == attack.code, "attack \(number)")
                }
            }
        }

        /// The code of the close frame that the bytes end with.
        private static func closeCode(in bytes: ArraySlice<UInt8>) -> UInt16? {
            for start in bytes.indices.reversed() where bytes[start] == 0x88 && start + 3 < bytes.endIndex {
                guard start + 2 + Int(bytes[start + 1]) == bytes.endIndex else { continue }
                return UInt16(bytes[start + 2]) << 8 | UInt16(bytes[start + 3])
            }
            return nil
        }

        @Test("Messages that are announced and never come hold no memory", .timeLimit(minutes: 2))
        func announcements() async throws {
            try await DuplexServe.withRunning(["--quiet"]) { server in
                let memory = try server.residentMemory()
                let count = 200
                let frames =
                    Self.frame(0x89, [7]) + Self.frame(0x82, [UInt8](repeating: 0, count: 1_000_000)).prefix(20)
                let connections = try (0..<count).map { number in
                    let connection = SharedConnection(try RawConnection(port: server.port, source: UInt8(1 + number)))
                    connection.value.send(HostileStream.handshake)
                    _ = connection.value.receive()
                    connection.value.send(frames)
                    // The pong says that the frame behind the ping has begun.
                    #expect(connection.value.receive() == [0x8A, 1, 7])
                    return connection
                }
                let growth = try server.residentMemory() - memory
                #expect(growth < count * 20 * 1_024 + DuplexServe.memoryTolerance, "it grew by \(growth / 1_024) KiB")
                for connection in connections { connection.value.resetOnClose() }
            }
        }

        @Test("Clients that never read make a server hold a bounded queue for each", .timeLimit(minutes: 2))
        func neverReading() async throws {
            try await DuplexServe.withRunning(["--quiet"]) { server in
                let memory = try server.residentMemory()
                try await Bystanders.withBystanders(of: server.port) {
                    for _ in 0..<2 {
                        let connections = try Self.stuff(server, count: 5)
                        // The inbox has room for a mebibyte, and what is under way for less than another one.
                        let growth = try server.residentMemory() - memory
                        #expect(
                            growth < 5 * (5 << 19) + DuplexServe.memoryTolerance,
                            "it grew by \(growth / 1_024) KiB"
                        )
                        for connection in connections { connection.value.resetOnClose() }
                    }
                }
            }
        }

        @Test(
            "What was held for clients that never read goes back to the system when they have gone",
            .timeLimit(minutes: 2)
        )
        func givenBack() async throws {
            try await DuplexServe.withRunning(["--quiet"]) { server in
                let memory = try server.residentMemory()
                let held = try Self.heldForNeverReading(server) - memory
                #expect(held > 24 << 20, "it holds \(held / 1_024) KiB for them")
                // Half a request gets its 408 after ten seconds of the server's; the memory has gone back five earlier.
                let clock = SharedConnection(try RawConnection(port: server.port, source: 1))
                clock.value.send(Array("GET / HTTP/1.1\r\n".utf8))
                try await onThreads(1) { _ in
                    let answer = String(decoding: clock.value.receiveToEnd(), as: UTF8.self)
                    #expect(answer.hasPrefix("HTTP/1.1 408"))
                }
                let left = try server.residentMemory() - memory
                // What the server needs once for its first clients is in it.
                let most = max(8 << 20, DuplexServe.memoryTolerance)
                #expect(left < most, "\(left / 1_024) KiB of \(held / 1_024) are left")
            }
        }

        /// What the server's memory is with twenty clients that don't read messages of a megabyte; they are closed then.
        private static func heldForNeverReading(_ server: DuplexServe) throws -> Int {
            let connections = try stuff(server, count: 20, messageSize: 1_000_000)
            for connection in connections { connection.value.resetOnClose() }
            return try server.residentMemory()
        }

        /// Opens connections that send messages and never read what comes back, until nothing more is taken.
        private static func stuff(
            _ server: DuplexServe,
            count: Int,
            messageSize: Int = 60_000
        ) throws -> [SharedConnection] {
            let message = frame(0x82, [UInt8](repeating: 0x5A, count: messageSize))
            let most = 64 << 20
            return try (0..<count).map { number in
                let connection = SharedConnection(try RawConnection(port: server.port, source: UInt8(1 + number)))
                connection.value.send(HostileStream.handshake)
                var sent = 0
                while sent < most {
                    let count = connection.value.sendWhileTaken(message)
                    sent += count
                    if count < message.count { break }
                }
                #expect(sent < most, "the server takes \(sent) bytes of a client that reads none")
                return connection
            }
        }
    }
}
#endif
