// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ProxyHeaderTests {
    @Test("A field is found by its kind, the first of several")
    func values() throws {
        let fields =
            ProxyBytes.field(0x02, Array("example.com".utf8)) + ProxyBytes.field(0xE0, [1])
            + ProxyBytes.field(0xE0, [2])
        var parser = ProxyHeaderParser(maximumLength: 4_096)
        let header = try #require(try parser.take(ProxyBytes.header(0x21, 0x11, ProxyBytes.ipv4 + fields)).header)
        #expect(header.value(of: .authority) == Array("example.com".utf8))
        #expect(header.value(of: .init(rawValue: 0xE0)) == [1])
        #expect(header.value(of: .alpn) == nil)
        #expect(header.fields.map(\.kind.rawValue) == [0x02, 0xE0, 0xE0])
    }
}
