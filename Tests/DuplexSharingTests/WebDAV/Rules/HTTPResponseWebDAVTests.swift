// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("The statuses of WebDAV")
struct HTTPResponseWebDAVTests {
    @Test("Statuses have the numbers of RFC 4918 section 11")
    func statuses() {
        let statuses: [HTTPResponse.Status] = [.multi, .locked, .failedDependency, .insufficientStorage]
        #expect(statuses.map(\.code) == [207, 423, 424, 507])
    }
}
