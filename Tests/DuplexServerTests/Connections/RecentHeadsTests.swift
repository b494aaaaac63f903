// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite("Heads that a loop keeps")
struct RecentHeadsTests {
    private func head(ofLength length: Int = 100) throws -> RequestHeadText {
        let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
        let text = start + String(repeating: "x", count: length - start.utf8.count - 4) + "\r\n\r\n"
        var parser = RequestHeadParser()
        var position = 0
        let head = try parser.parse(Array(text.utf8).span, from: &position)
        return try #require(head).text
    }

    @Test("A connection has its own last head, until it ends or another takes its place")
    func lastHead() throws {
        let heads = RecentHeads()
        let (first, second, third) = (try head(), try head(), try head())
        #expect(heads[7] == nil)
        heads.note(first, of: 7)
        heads.note(second, of: 8)
        #expect(heads[7] === first && heads[8] === second && heads[9] == nil)
        heads.note(third, of: 7)
        #expect(heads[7] === third)
        let other = 7 + UInt32(RecentHeads.count)
        #expect(heads[other] == nil)
        heads.note(first, of: other)
        #expect(heads[7] == nil && heads[other] === first)
        heads.forget(7)
        #expect(heads[other] === first)
        heads.forget(other)
        #expect(heads[other] == nil && heads[8] === second)
    }

    @Test("A long head isn't kept, and takes that before it away")
    func longHead() throws {
        let heads = RecentHeads()
        let longest = try head(ofLength: RecentHeads.keptLength)
        heads.note(longest, of: 1)
        #expect(heads[1] === longest)
        heads.note(try head(ofLength: RecentHeads.keptLength + 1), of: 1)
        #expect(heads[1] == nil)
    }

    @Test("A head that didn't come in one piece isn't kept")
    func madeHead() throws {
        let heads = RecentHeads()
        let host = try #require(HTTPField.Name("Host"))
        heads.note(try RequestHead(method: .get, target: "/", headers: [host: "a"]).text, of: 1)
        #expect(heads[1] == nil)
    }
}
