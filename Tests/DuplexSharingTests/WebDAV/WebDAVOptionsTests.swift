// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("How a folder is shared by WebDAV")
struct WebDAVOptionsTests {
    @Test("The defaults are those that are written down")
    func defaults() {
        let options = WebDAVOptions()
        #expect(options.lockTime == .seconds(3_600) && options.lockLimit == 1_000)
        #expect(options.userLockLimit == 200)
        #expect(options.propertySize == .kibibytes(64) && !options.takesFinderFiles && options.publicHosts.isEmpty)
    }
}
