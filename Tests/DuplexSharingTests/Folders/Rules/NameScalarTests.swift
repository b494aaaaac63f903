// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSharing

@Suite("Characters in names of files")
struct NameScalarTests {
    @Test(
        "Controls, ends of lines and marks of direction are unfit",
        arguments: ["\0", "\u{1F}", "\u{7F}", "\u{9F}", "\u{2028}", "\u{2029}", "\u{200E}", "\u{202E}", "\u{2066}"]
            as [Unicode.Scalar]
    )
    func unfit(scalar: Unicode.Scalar) {
        #expect(NameScalar.isUnfit(scalar))
    }

    @Test(
        "Others are fit",
        arguments: ["a", " ", "/", "\u{A0}", "é", "\u{200D}", "\u{2027}", "\u{1F600}"] as [Unicode.Scalar]
    )
    func fit(scalar: Unicode.Scalar) {
        #expect(!NameScalar.isUnfit(scalar))
    }
}
