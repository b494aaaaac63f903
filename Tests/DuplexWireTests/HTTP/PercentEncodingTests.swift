// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Text in paths")
struct PercentEncodingTests {
    @Test("What may stand in a segment stays, all else is encoded byte by byte")
    func segments() {
        #expect(PercentEncoding.segment("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.segment("a b/c?d#e%f:g@h") == "a%20b%2Fc%3Fd%23e%25f%3Ag%40h")
        #expect(PercentEncoding.segment("é你") == "%C3%A9%E4%BD%A0")
        #expect(PercentEncoding.segment("") == "")
    }

    @Test("What was encoded comes back")
    func roundTrip() {
        for scalar in (1..<0x300).compactMap(Unicode.Scalar.init) {
            #expect(PercentDecoding.decode(PercentEncoding.segment("\(scalar)")) == "\(scalar)")
        }
    }
}
