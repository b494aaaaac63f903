// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct TransferTests {
    /// Moves a transfer step by step to a channel whose peer reads all, and gives what arrived.
    private static func move(
        _ content: @escaping @Sendable () throws -> Transfer.Content,
        _ isDirect: Bool
    ) async throws -> (bytes: [UInt8], total: UInt64, steps: [Transfer.Step]) {
        let loop = try EventLoop()
        let pair = try Descriptors.pair()
        defer { SystemCalls.close(pair.far) }
        let (total, steps) = try await withCheckedThrowingContinuation {
            (result: CheckedContinuation<(UInt64, [Transfer.Step]), any Error>) in
            loop.execute { core in
                let channel = Channel(descriptor: pair.near, core: core)
                result.resume(
                    with: Result {
                        let transfer = Transfer(try content(), id: 1, began: core.now)
                        var steps: [Transfer.Step] = []
                        while !transfer.isTaken {
                            steps.append(try transfer.move(to: channel, mayBeDirect: isDirect))
                            channel.flush()
                        }
                        channel.close()
                        return (transfer.total, steps)
                    }
                )
            }
        }
        var bytes: [UInt8] = []
        while let more = Descriptors.read(pair.far), !more.isEmpty { bytes += more }
        await loop.stop()
        return (bytes, total, steps)
    }

    @Test("Pieces go in their order, 64 KiB at a time, whatever their sizes are")
    func pieces() async throws {
        let pieces = [[], [1], TestFile.pattern(65_535), TestFile.pattern(65_537), [], [2, 3]]
        let (bytes, total, steps) = try await Self.move({ .bytes(pieces) }, true)
        #expect(bytes == pieces.flatMap(\.self))
        #expect(total == UInt64(bytes.count))
        #expect(steps == [.queued, .queued, .queued])
    }

    @Test("A file goes past the channel, or through it where it may not", arguments: [true, false])
    func files(isDirect: Bool) async throws {
        let content = TestFile.pattern(150_000)
        try await TestFile.with(content) { file in
            let path = file.path
            let (bytes, total, steps) = try await Self.move(
                { .file(try FileRange(path: path, offset: 0, count: nil)) },
                isDirect
            )
            #expect(bytes == content)
            #expect(total == 150_000)
            #expect(steps.allSatisfy { $0 == (isDirect ? .sent : .queued) })
        }
    }

    @Test("Nothing to send is done from the start")
    func empty() async throws {
        for pieces in [[], [[]], [[], []]] as [[[UInt8]]] {
            let (bytes, total, steps) = try await Self.move({ .bytes(pieces) }, true)
            #expect(bytes == [] && total == 0 && steps == [])
        }
    }
}
