// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("How resumable uploads are taken")
struct ResumableUploadOptionsTests {
    @Test("The defaults are those of the documentation")
    func defaults() {
        let options = ResumableUploadOptions()
        #expect(options.size == .unlimited && options.lifetime == .seconds(86_400))
        #expect(
            options.unfinishedCount == 1_000 && options.unfinishedSize == .unlimited && options.onConflict == .refuse
        )
    }
}
