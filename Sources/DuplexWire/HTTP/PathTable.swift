// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Finds paths that are known ahead by their bytes as they are sent.
///
/// Most requests ask for one of these, and a string of each path would cost more than to find it.
package struct PathTable: Sendable {
    /// What lies where: a power of two of places, of which at most half are taken; each path lies at its hash or behind it.
    private var places: [(hash: UInt64, number: Int)]
    private let paths: [[UInt8]]
    /// The number where nothing lies.
    private static let nothing = -1

    /// Makes a table that isn't changed any more.
    ///
    /// - Parameter paths: each once.
    package init(_ paths: [String]) {
        var size = 2
        while size < 2 * paths.count { size *= 2 }
        places = Array(repeating: (0, Self.nothing), count: size)
        self.paths = paths.map { Array($0.utf8) }
        for (number, path) in self.paths.enumerated() {
            let hash = path.span.raw.quickHash
            var index = self.index(of: hash)
            while places[index].number != Self.nothing { index = self.index(behind: index) }
            places[index] = (hash, number)
        }
    }

    /// Which of the paths a request is for; nil for none of them.
    package func number(for head: RequestHead) -> Int? {
        head.content.text.withPath { number(of: $0) }
    }

    private func number(of path: RawSpan) -> Int? {
        let hash = path.quickHash
        var index = self.index(of: hash)
        while places[index].number != Self.nothing {
            let (found, number) = places[index]
            if found == hash {
                let known = paths[number]
                if path.hasSameBytes(as: known.span.raw) { return number }
            }
            index = self.index(behind: index)
        }
        return nil
    }

    private func index(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (places.count - 1) }

    private func index(behind index: Int) -> Int { (index + 1) & (places.count - 1) }
}

extension RawSpan {
    /// A number that is the same for the same bytes, and mostly another one for others.
    ///
    /// For tables whose keys no peer chooses: it is quick, and collisions are easily made.
    fileprivate var quickHash: UInt64 {
        var hash = UInt64(byteCount)
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        var index = 0
        while index + 8 < byteCount {
            mix(littleEndianWord(at: index))
            index += 8
        }
        mix(lastWord)
        return hash
    }
}
