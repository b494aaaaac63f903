// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite("What a file of passwords says")
struct PasswordEntriesTests {
    @Test("Names and hashes are read, also with line ends of DOS, further fields, comments and names twice")
    func reading() {
        let text = "# users\r\nmia:$2y$05$a\r\n\neve:$6$b:more\nmia:$5$c\nlast:$y$d"
        let entries = PasswordEntries(text)
        #expect(entries.hashes == ["mia": "$2y$05$a", "eve": "$6$b", "last": "$y$d"])
        #expect(entries.faults == [])
    }

    @Test("Lines that can't be used are passed over, and told by their numbers")
    func faults() {
        let entries = PasswordEntries("a:$apr1$x$y\nb\n:$6$x\nc:{SHA}x\nd:plain\ne:$6$x\nf:")
        #expect(entries.hashes == ["e": "$6$x"])
        #expect(entries.faults.count == 6)
        #expect(entries.faults.first?.contains("line 1 is Apache's own MD5") == true)
        #expect(entries.faults.last?.contains("line 7") == true)
    }

    @Test("Who isn't in the file is compared with the same hash each time, one of those that are")
    func decoys() {
        #expect(PasswordEntries("").decoy(for: "mia") == nil)
        let entries = PasswordEntries((0..<10).map { "u\($0):$6$\($0)" }.joined(separator: "\n"))
        let decoys = (0..<100).map { entries.decoy(for: "x\($0)") }
        #expect(decoys == (0..<100).map { entries.decoy(for: "x\($0)") })
        #expect(decoys.allSatisfy { entries.hashes.values.contains($0 ?? "") } && Set(decoys).count > 1)
    }
}
