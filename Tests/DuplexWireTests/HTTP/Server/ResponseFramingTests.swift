// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWire

@Suite struct ResponseFramingTests {
    @Test("The connection's own fields are known in any case of letters, and no others")
    func names() throws {
        for text in ["Content-Length", "transfer-encoding", "CONNECTION", "Keep-Alive", "Proxy-Connection", "TE"] {
            #expect(FramingFields.contains(try #require(HTTPField.Name(text))), "\(text)")
        }
        for text in ["Upgrade", "Content-Type", "Date", "Trailer", "Connection-X"] {
            #expect(!FramingFields.contains(try #require(HTTPField.Name(text))), "\(text)")
        }
    }

    @Test("A length counts when it is one number")
    func lengths() {
        #expect(FramingFields.length(in: [.contentLength: "12"]) == 12)
        #expect(FramingFields.length(in: [.contentLength: "twelve"]) == nil)
        #expect(FramingFields.length(in: [:]) == nil)
    }
}
