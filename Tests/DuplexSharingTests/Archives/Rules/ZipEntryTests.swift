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

@Suite("What is written of an entry of a zip")
struct ZipRecordTests {
    @Test(
        "Dates are in steps of two seconds from 1980 to 2107",
        arguments: [
            (0, 0x0021, 0), (315_532_800, 0x0021, 0), (315_532_803, 0x0021, 1), (1_795_424_461, 0x5D77, 0x4820),
            (4_354_819_199, 0xFF9F, 0xBF7D), (9_999_999_999, 0xFF9F, 0xBF7D), (-5, 0x0021, 0),
        ] as [(Int64, UInt16, UInt16)]
    )
    func dates(seconds: Int64, day: UInt16, clock: UInt16) {
        let date = ZipRecord.oldDate(UnixTime(seconds: seconds))
        #expect(date.day == day && date.clock == clock)
    }

    @Test("Seconds that don't fit into 32 bits are left out")
    func farDates() {
        for (seconds, count) in [(0, 40), (Int64(Int32.max), 40), (Int64(Int32.max) + 1, 31)] {
            let date = UnixTime(seconds: seconds)
            let entry = ZipEntry("a", .file(atMost: 0, .stored), modified: date, permissions: 0o644)
            #expect(ZipRecord(entry, "a", .stored, isLong: false).localHeader.count == count)
        }
    }

    @Test("Numbers have their lowest byte first")
    func numbers() {
        var bytes: [UInt8] = []
        bytes.append(little: UInt16(0x0102))
        bytes.append(little: UInt64(0x0102_0304_0506_0708))
        #expect(bytes == [2, 1, 8, 7, 6, 5, 4, 3, 2, 1])
    }
}
