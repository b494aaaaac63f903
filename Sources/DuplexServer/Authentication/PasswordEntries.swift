// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a file of passwords says: a name, a colon and a hash in each line.
struct PasswordEntries: Sendable {
    /// The hashes by the users' names; of a name that is there twice, the first, as with Apache.
    private(set) var hashes: [String: String] = [:]
    /// What is wrong with lines that are passed over.
    private(set) var faults: [String] = []
    /// In their order, for those who aren't in the file.
    private var all: [String] = []

    /// Reads the text of a file.
    ///
    /// Empty lines, and those that begin with `#`, say nothing, nor does a byte order mark at the beginning.
    init(_ text: String) {
        let text = ByteOrderMark.removed(from: Array(text.utf8))
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let bytes = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if bytes.isEmpty || bytes.first == UInt8(ascii: "#") { continue }
            let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard parts.count > 1, !parts[0].isEmpty else {
                faults.append("line \(index + 1) isn't a name, a colon and a hash")
                continue
            }
            add(String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self), index + 1)
        }
    }

    private mutating func add(_ user: String, _ hash: String, _ line: Int) {
        if let fault = PasswordHash.fault(of: hash) {
            faults.append("the hash in line \(line) is \(fault)")
        } else if hashes[user] == nil {
            hashes[user] = hash
            all.append(hash)
        }
    }

    /// The hash to compare with for a user who isn't in the file: always the same one of those that are, so that it costs
    /// what theirs do.
    func decoy(for user: String) -> String? {
        if all.isEmpty { return nil }
        var hasher = Hasher()
        hasher.combine(user)
        return all[Int(UInt(bitPattern: hasher.finalize()) % UInt(all.count))]
    }
}
