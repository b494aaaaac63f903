// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("The length of bodies")
struct BodyFramingTests {
    typealias Row = (version: HTTPVersion, headers: [(HTTPField.Name, String)], framing: BodyFraming)

    @Test(
        "A request says by its fields how long its body is",
        arguments: [
            (.http11, [], .none), (.http11, [(.contentLength, "5")], .length(5)),
            (.http11, [(.contentLength, "0")], .none),
            (.http11, [(.contentLength, "0005")], .length(5)), (.http11, [(.transferEncoding, "chunked")], .chunked),
            (.http11, [(.transferEncoding, "CHUNKED")], .chunked),
            (.http11, [(.transferEncoding, "Chunked")], .chunked),
            (.http10, [(.contentLength, "5")], .length(5)),
        ] as [Row]
    )
    func requests(row: Row) throws {
        #expect(try request(row.version, row.headers).framing == row.framing)
    }

    @Test(
        "A length in doubt is refused",
        arguments: [
            ([(.contentLength, "1"), (.contentLength, "1")], 400),
            ([(.contentLength, "1"), (.contentLength, "2")], 400),
            ([(.contentLength, "1, 1")], 400), ([(.contentLength, "+1")], 400), ([(.contentLength, "-1")], 400),
            ([(.contentLength, "1x")], 400), ([(.contentLength, "0x1")], 400), ([(.contentLength, "")], 400),
            ([(.contentLength, "99999999999999999999")], 400), ([(.contentLength, "1 2")], 400),
            ([(.contentLength, "5"), (.transferEncoding, "chunked")], 400), ([(.transferEncoding, "")], 400),
            ([(.transferEncoding, "chunked, chunked")], 400), ([(.transferEncoding, "chunked, gzip")], 400),
            ([(.transferEncoding, "chunked"), (.transferEncoding, "identity")], 400),
            ([(.transferEncoding, "chunked"), (.transferEncoding, "chunked")], 400),
            ([(.transferEncoding, "gzip")], 400), ([(.transferEncoding, "gzip, chunked")], 501),
            ([(.transferEncoding, "xchunked")], 400), ([(.transferEncoding, "chunked;a=b")], 400),
            ([(.transferEncoding, " , chunked")], 400), ([(.transferEncoding, "chunked,")], 400),
            ([(.transferEncoding, ",chunked")], 400), ([(.transferEncoding, ""), (.transferEncoding, "chunked")], 400),
            ([(.transferEncoding, "chunked"), (.transferEncoding, "")], 400),
            ([(.transferEncoding, "chunked"), (.transferEncoding, "gzip")], 400),
            ([(.transferEncoding, "gzip"), (.transferEncoding, "chunked")], 501),
            ([(.transferEncoding, "chunked ;a=b")], 400), ([(.transferEncoding, "chunked x")], 400),
            ([(.transferEncoding, "\"chunked\"")], 400), ([(.transferEncoding, "identity")], 400),
        ] as [([(HTTPField.Name, String)], Int)]
    )
    func doubtful(headers: [(HTTPField.Name, String)], status: Int) {
        let error = #expect(throws: HTTPProtocolError.self) { try request(.http11, headers) }
        #expect(error?.status.code == status)
        let response = ResponseHead(
            status: .ok,
            headers: HTTPFields(headers.map { HTTPField(name: $0.0, value: $0.1) })
        )
        #expect(throws: HTTPProtocolError.self) { try response.framing(answering: .get) }
    }

    @Test("HTTP/1.0 has no transfer codings")
    func oldTransferCoding() {
        let error = #expect(throws: HTTPProtocolError.self) { try request(.http10, [(.transferEncoding, "chunked")]) }
        #expect(error?.code == .unsupportedTransferCoding)
        #expect(error?.status.code == 400)
    }

    @Test(
        "The length of a response hangs on its status and on the request as well",
        arguments: [
            (HTTPRequest.Method.get, 200, "7", BodyFraming.length(7)), (.get, 200, nil, .untilClose),
            (.head, 200, "7", .none),
            (.head, 404, nil, .none), (.get, 204, "7", .none), (.get, 304, "7", .none), (.get, 103, nil, .none),
            (.connect, 200, "7", .none), (.connect, 403, "7", .length(7)), (.get, 200, "0", .none),
        ] as [(HTTPRequest.Method, Int, String?, BodyFraming)]
    )
    func responses(method: HTTPRequest.Method, status: Int, length: String?, expected: BodyFraming) throws {
        var head = ResponseHead(status: HTTPResponse.Status(code: status))
        head.headers[.contentLength] = length
        #expect(try head.framing(answering: method) == expected)
    }

    private func request(_ version: HTTPVersion, _ headers: [(HTTPField.Name, String)]) throws -> RequestHead {
        var all = host("a")
        for (name, value) in headers { all.append(HTTPField(name: name, value: value)) }
        return try RequestHead(method: .post, target: "/", version: version, headers: all)
    }
}
