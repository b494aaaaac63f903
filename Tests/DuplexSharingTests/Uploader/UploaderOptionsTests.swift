// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("How a folder is shown in the browser")
struct UploaderOptionsTests {
    @Test("The defaults are those that are written down")
    func defaults() {
        let options = UploaderOptions()
        #expect(options.title == "Files" && options.logo == "assets/icon.svg" && options.zips == .stored)
        #expect([options.header, options.prologue, options.epilogue, options.footer] == ["", "", "", ""])
        #expect(options.pieceSize == .mebibytes(8) && options.parallelUploads == 3)
        #expect(options.searchLimit == 100_000 && options.resultLimit == 1_000)
        #expect(options.requestSize == .mebibytes(1) && options.uploads.onConflict == .refuse)
    }
}
