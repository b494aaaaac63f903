// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("HTTP errors")
struct HTTPErrorTests {
    @Test(
        "A code is answered with its status",
        arguments: [
            (HTTPError.Code.malformedRequestLine, 400), (.bodyTooLarge, 413), (.uriTooLong, 414), (.headTooLarge, 431),
            (.tooManyFields, 431), (.unknownMethod, 501), (.unsupportedTransferCoding, 501),
            (.unknownExpectation, 417), (.unsupportedVersion, 505),
            (.timeout, 408), (.badHost, 400), (.malformedStatusLine, 502), (HTTPError.Code(rawValue: "new"), 400),
        ]
    )
    func status(code: HTTPError.Code, status: Int) {
        #expect(HTTPError(code, "").status.code == status)
    }

    @Test("The description names the code, the status and the message")
    func description() {
        let error = HTTPError(.badHost, "Host is missing")
        #expect("\(error)" == "HTTPError.badHost (400): Host is missing")
    }
}
