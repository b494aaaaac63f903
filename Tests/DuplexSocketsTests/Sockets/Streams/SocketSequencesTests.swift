// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct SocketSequencesTests {
    @Test("Lines come one by one, and what follows the last one taken is left for other reads")
    func lines() async throws {
        try await withPair { near, far in
            try await near.write("one\r\ntwo\nthree\n\nend")
            await near.finishWriting()
            var lines: [String] = []
            for try await line in far.lines {
                lines.append(line)
                if line == "two" { break }
            }
            #expect(lines == ["one", "two"])
            #expect(try await far.read(exactly: 5) == Array("three".utf8))
            for try await line in far.lines { lines.append(line) }
            #expect(lines == ["one", "two", "", "", "end"])
        }
    }

    @Test("Bytes come one by one up to the end of the stream")
    func bytes() async throws {
        try await withPair { near, far in
            let sent = (0..<5_000).map { UInt8(truncatingIfNeeded: $0) }
            try await near.write(sent)
            await near.finishWriting()
            var received: [UInt8] = []
            for try await byte in far.bytes { received.append(byte) }
            #expect(received == sent)
        }
    }
}
