// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWebSockets
@testable import DuplexWire

@Suite("Digests of bytes that come in pieces")
struct RunningDigestTests {
    @Test(
        "They are those of the whole, in every split",
        arguments: [
            (RunningDigest.Algorithm.sha1, "Kq5sNclPz7QV2+lfQIuc6R7oRu0="),
            (.md5, "XrY7u+Ae7tCTyyK7j1rNww=="),
            (.sha256, "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="),
        ]
    )
    func splits(algorithm: RunningDigest.Algorithm, expected: String) throws {
        let bytes = Array("hello world".utf8)
        for middle in 0...bytes.count {
            let digest = try #require(RunningDigest(algorithm))
            digest.add(Array(bytes[..<middle]))
            digest.add(Array(bytes[middle...]))
            #expect(digest.finish() == Base64.decode(expected))
        }
    }
}
