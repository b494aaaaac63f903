// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Lines one behind the other in one piece of memory, so that one call writes many of them.
package struct LineBatch: Sendable {
    /// The results of the lines of a batch.
    package struct Outcome: Sendable, Hashable {
        /// How many were written.
        package var written = 0
        /// Whether the last one was.
        package var isWell = true

        package init(written: Int = 0, isWell: Bool = true) {
            self.written = written
            self.isWell = isWell
        }
    }

    package private(set) var bytes: [UInt8] = []
    /// Where each line ends.
    private var ends: [Int] = []

    package init() {}

    package var count: Int { ends.count }
    package var isEmpty: Bool { ends.isEmpty }

    /// Where a line stands in ``bytes``.
    package func range(of line: Int) -> Range<Int> { start(of: line)..<ends[line] }

    package func start(of line: Int) -> Int { line == 0 ? 0 : ends[line - 1] }

    /// How many lines from `first` on end at that place or before.
    package func count(from first: Int, endingBy place: Int) -> Int {
        var line = first
        while line < ends.count, ends[line] <= place { line += 1 }
        return line - first
    }

    package mutating func append(_ line: [UInt8]) {
        bytes.append(line.span.raw)
        ends.append(bytes.count)
    }

    /// Takes the lines out, and keeps the memory for others.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Writes the lines one by one.
    ///
    /// - Parameter writer: Writes a line, and returns whether it could.
    /// - Returns: Their results.
    package func write(each writer: ([UInt8]) -> Bool) -> Outcome {
        var outcome = Outcome()
        for line in 0..<count {
            outcome.isWell = writer(Array(bytes[range(of: line)]))
            if outcome.isWell { outcome.written += 1 }
        }
        return outcome
    }
}
