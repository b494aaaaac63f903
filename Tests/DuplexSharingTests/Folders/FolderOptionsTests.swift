// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite struct FolderOptionsTests {
    @Test("Names are allowed by their ends, whatever their case; without an end only where that is said")
    func extensions() {
        var options = FolderOptions()
        #expect(options.allows("a.exe") && options.allows("a"))
        options.allowedExtensions = ["jpg", "png"]
        #expect(options.allows("a.JPG") && options.allows("a.b.png"))
        #expect(
            !options.allows("a.jpg.exe") && !options.allows("jpg") && !options.allows("a.") && !options.allows(".jpgx")
        )
        options.allowedExtensions = [""]
        #expect(options.allows("README"))
    }

    @Test("Reading and writing is more than reading, and that more than nothing")
    func access() {
        #expect(FolderOptions.Access.none < .read && .read < FolderOptions.Access.readAndWrite)
    }
}
