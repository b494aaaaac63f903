// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSharing
@testable import DuplexWire

@Suite("Entries of a zip")
struct ZipEntryTests {
    @Test("Of a mode only the permissions are taken")
    func permissions() {
        let entry = ZipEntry("a", .folder, modified: UnixTime(seconds: 0), permissions: 0o107_755)
        #expect(entry.permissions == 0o755)
    }

    @Test("The methods have the numbers of APPNOTE section 4.4.5")
    func methods() {
        #expect(ZipPacking.stored.rawValue == 0 && ZipPacking.deflated.rawValue == 8)
    }
}
