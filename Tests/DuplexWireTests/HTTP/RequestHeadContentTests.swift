// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite struct RequestHeadContentTests {
    @Test("A head that was made has what it was made of")
    func made() throws {
        let head = try RequestHead(method: .get, target: "/a?b", headers: [.host: "A:1", .accept: "*/*"])
        #expect(head.target == "/a?b" && head.path == "/a" && head.query == "b" && head.host == "a:1")
        #expect(head.headers[.accept] == "*/*")
    }

    @Test("The fields of a received head are made once and are the same each time, also from many tasks")
    func headers() async throws {
        let bytes = wire("GET /a HTTP/1.1\nHost: a\nX: 1\nX: 2\n\n")
        var parser = RequestHeadParser()
        var position = 0
        let parsed = try parser.parse(bytes.span, from: &position)
        let head = try #require(parsed)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { head.headers.map(\.value) == ["a", "1", "2"] } }
            for await isSame in group { #expect(isSame) }
        }
    }
}

extension HTTPField.Name {
    fileprivate static var host: Self { Self(parsed: "host") ?? .accept }
}
