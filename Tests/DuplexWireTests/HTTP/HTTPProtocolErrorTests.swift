// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("HTTP errors")
struct HTTPProtocolErrorTests {
    @Test(
        "A code is answered with its status",
        arguments: [
            (HTTPProtocolError.Code.malformedRequestLine, 400), (.bodyTooLarge, 413), (.uriTooLong, 414),
            (.headTooLarge, 431),
            (.tooManyFields, 431), (.unknownMethod, 501), (.unsupportedTransferCoding, 501),
            (.unknownExpectation, 417), (.unsupportedVersion, 505),
            (.timeout, 408), (.badHost, 400), (.malformedStatusLine, 502),
            (.wrongLength, 500), (.truncated, 400),
        ]
    )
    func status(code: HTTPProtocolError.Code, status: Int) {
        #expect(HTTPProtocolError(code, "").status.code == status)
    }

    @Test("The description names the code, the status and the message")
    func description() {
        let error = HTTPProtocolError(.badHost, "Host is missing")
        #expect("\(error)" == "HTTPProtocolError.badHost (400): Host is missing")
    }
}
