// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("The field Depth")
struct WebDAVDepthTests {
    @Test(
        "Its values",
        arguments: [
            ("0", WebDAVDepth.zero), ("1", .one), ("infinity", .infinity), ("Infinity", .infinity), (" 1 ", .one),
        ]
    )
    func reads(value: String, depth: WebDAVDepth) throws {
        #expect(try WebDAVDepth([.depth: value], absent: .zero) == depth)
    }

    @Test("Without it holds what the method says", arguments: [WebDAVDepth.zero, .one, .infinity])
    func absent(depth: WebDAVDepth) throws {
        #expect(try WebDAVDepth([:], absent: depth) == depth)
    }

    @Test("All else is refused, and so are two", arguments: [["2"], [""], ["-1"], ["1,noroot"], ["0", "0"]])
    func refuses(values: [String]) {
        var fields = HTTPFields()
        fields[values: .depth] = values
        #expect(throws: WebDAVFault.self) { try WebDAVDepth(fields, absent: .zero) }
    }
}
