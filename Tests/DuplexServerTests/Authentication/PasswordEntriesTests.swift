// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite("What a file of passwords says")
struct PasswordEntriesTests {
    /// Of “secret ä”, made by openssl passwd and by crypt(3) itself.
    static let hashes = [
        "$2y$04$abcdefghijklmnopqrstuurydDy6ajAR/b4uUYXRl/HDpX6JrEDzC",
        "$5$saltsalt$OaWrK4nmhlHO8SCAHqi9g.e0kcKiZNwbxYhWI.cXR3B",
        "$5$rounds=1000$abc$3s9Oe5be0w.2.K7bkqWaKxBJu11RayEBLxv0FWuv7u5",
        "$6$saltsalt$bF1CGxXrXd8t3M5P5A4BftQgLa5/4Gb7KGxv.tqILmZo0ZJ/DUCqnXITceKwyk1NCcmbGhbHuW4U8Tm9PrsxK0",
        "$y$j75$abcdefgh$gnht3Fuf8dNcnXgqnst8.SWMVFBrxjyf7GiiaX.21K5",
    ]

    @Test("Names and hashes are read, also with line ends of DOS, further fields, comments and names twice")
    func reading() {
        let hashes = Self.hashes
        let text = "# users\r\nmia:\(hashes[0])\r\n\neve:\(hashes[3]):more\nmia:\(hashes[1])\nlast:\(hashes[4])"
        let entries = PasswordEntries(text)
        #expect(entries.hashes == ["mia": hashes[0], "eve": hashes[3], "last": hashes[4]])
        #expect(entries.faults == [])
    }

    @Test("A byte order mark at the beginning is passed over, and one elsewhere isn't")
    func byteOrderMark() {
        let entries = PasswordEntries("\u{FEFF}mia:\(Self.hashes[0])\n\u{FEFF}eve:\(Self.hashes[3])")
        let names: [[UInt8]] = entries.hashes.keys.map { Array($0.utf8) }
        #expect(names.contains(Array("mia".utf8)) && !names.contains(Array("\u{FEFF}mia".utf8)))
        #expect(entries.hashes.count == 2 && entries.hashes["eve"] == nil)
    }

    @Test("Lines that can't be used are passed over, and told by their numbers")
    func faults() {
        let entries = PasswordEntries("a:$apr1$x$y\nb\n:$6$x\nc:{SHA}x\nd:plain\ne:\(Self.hashes[3])\nf:")
        #expect(entries.hashes == ["e": Self.hashes[3]])
        #expect(entries.faults.count == 6)
        #expect(entries.faults.first?.contains("line 1 is Apache's own MD5") == true)
        #expect(entries.faults.last?.contains("line 7") == true)
    }

    @Test("Who isn't in the file is compared with the same hash each time, one of those that are")
    func decoys() {
        #expect(PasswordEntries("").decoy(for: "mia") == nil)
        let entries = PasswordEntries(Self.hashes.enumerated().map { "u\($0):\($1)" }.joined(separator: "\n"))
        let decoys = (0..<100).map { entries.decoy(for: "x\($0)") }
        #expect(decoys == (0..<100).map { entries.decoy(for: "x\($0)") })
        #expect(decoys.allSatisfy { entries.hashes.values.contains($0 ?? "") } && Set(decoys).count > 1)
    }
}
