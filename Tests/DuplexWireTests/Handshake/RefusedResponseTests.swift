// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("The body of a refusal")
struct RefusedResponseTests {
    @Test(
        "A body is collected to its end, however it's framed, and what follows is left",
        arguments: [
            ([(HTTPField.Name.contentLength, "3")], "abcHTTP", 3),
            ([(.transferEncoding, "chunked")], "3\r\nabc\r\n0\r\n\r\nHTTP", 13),
        ]
    )
    func framings(fields: [(HTTPField.Name, String)], input: String, taken: Int) {
        let fed = expectSameInEverySplit(Array(input.utf8)) { collect($0, head(fields)) }
        #expect(fed.failure?.body == Array("abc".utf8))
        #expect(fed.taken == taken)
    }

    @Test(
        "Without a body the refusal is thrown at once",
        arguments: [(204, nil), (304, "5"), (404, "0")] as [(Int, String?)]
    )
    func bodiless(status: Int, length: String?) {
        let head = head(length.map { [(.contentLength, $0)] } ?? [], status: status)
        let error = #expect(throws: HandshakeError.self) { try RefusedResponse(head) }
        #expect(error?.status?.code == status)
        #expect(error?.body.isEmpty == true)
    }

    @Test("A length in doubt is a refusal without a body")
    func doubtful() {
        let error = #expect(throws: HandshakeError.self) {
            try RefusedResponse(head([(.contentLength, "x")], status: 403))
        }
        #expect(error?.status?.code == 403)
    }

    @Test("A body that ends with the connection is collected as far as it has come")
    func untilClose() throws {
        var response = try RefusedResponse(head([]))
        var position = 0
        try response.receive(Array("abc".utf8).span, from: &position)
        #expect(response.error.body == Array("abc".utf8))
    }

    @Test(
        "No more than 64 KiB are collected",
        arguments: [[], [(HTTPField.Name.contentLength, "70000")], [(.contentLength, "9223372036854775807")]]
    )
    func bound(fields: [(HTTPField.Name, String)]) {
        let input = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
        let fed = expectSameInEverySplit(input) { collect($0, head(fields)) }
        #expect(fed.failure?.body == Array(input.prefix(65_536)))
        #expect(fed.taken == 65_536)
    }

    @Test("Malformed chunks end the body where they are")
    func malformed() {
        let fed = expectSameInEverySplit(wire("3\nabc\nx\n")) { collect($0, head([(.transferEncoding, "chunked")])) }
        #expect(fed.failure?.status?.code == 500)
        #expect(fed.failure?.body == Array("abc".utf8))
    }

    private func head(_ fields: [(HTTPField.Name, String)], status: Int = 500) -> ResponseHead {
        ResponseHead(
            status: HTTPResponse.Status(code: status),
            fields: HTTPFields(fields.map { HTTPField(name: $0.0, value: $0.1) })
        )
    }

    private func collect(_ pieces: [[UInt8]], _ head: ResponseHead) -> Fed<Bool, HandshakeError> {
        guard var response = try? RefusedResponse(head) else { return Fed() }
        return feed(pieces) { (piece, position) throws(HandshakeError) in
            try response.receive(piece, from: &position)
            return nil
        }
    }
}
