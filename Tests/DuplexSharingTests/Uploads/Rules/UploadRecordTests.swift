// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSharing
@testable import DuplexWire

@Suite("What is kept of an upload beside its bytes")
struct UploadRecordTests {
    private static var full: UploadRecord {
        var record = UploadRecord(
            length: 5,
            metadata: UploadMetadata("name w6QudHh0") ?? .none,
            concatenation: .final(["/a b", "c"]),
            user: "a user\nwith lines",
            expires: UnixTime(seconds: 1_795_424_461)
        )
        record.concatenation = .final(["/a", "c"])
        record.uncheckedFrom = 3
        record.path = "ä/ö.txt"
        return record
    }

    private static let least = UploadRecord(
        length: nil,
        metadata: .none,
        concatenation: .none,
        user: nil,
        expires: UnixTime(seconds: -1)
    )

    @Test("It is read as it was written")
    func roundTrip() {
        for record in [Self.full, Self.least] { #expect(UploadRecord(record.bytes) == record) }
    }

    @Test("One that is cut anywhere, or longer, is none")
    func cut() {
        for record in [Self.full, Self.least] {
            for count in 0..<record.bytes.count { #expect(UploadRecord(Array(record.bytes.prefix(count))) == nil) }
            #expect(UploadRecord(record.bytes + [0x0A]) == nil)
        }
    }

    @Test("What isn't one, or is of another version, is none")
    func wrong() {
        for text in ["", "\n\n\n\n", "duplex upload 2\nexpires 1\nend\n", "duplex upload 1\nend\n"] {
            #expect(UploadRecord(Array(text.utf8)) == nil)
        }
        #expect(UploadRecord([0xFF] + Self.least.bytes) == nil)
    }
}
