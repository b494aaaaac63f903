// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("Items of a zip")
struct ZipItemTests {
    @Test("Permissions are those that folders and files usually have, unless they are known")
    func permissions() {
        let day = UnixTime(seconds: 0)
        #expect(ZipItem("a", .folder, modified: day).entry(.stored, size: 0).permissions == 0o755)
        let known = ZipItem("a", .folder, modified: day, permissions: 0o700)
        #expect(known.entry(.stored, size: 0).permissions == 0o700)
        #expect(ZipItem("a", .folder, modified: day).entry(.stored, size: 0).kind == .folder)
    }
}
