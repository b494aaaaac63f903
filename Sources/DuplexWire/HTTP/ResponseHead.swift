// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The head of a response: its first line and its fields (RFC 9112 section 4).
public struct ResponseHead: Sendable, Hashable {
    /// The status, with the reason phrase as it was sent.
    public var status: HTTPResponse.Status
    /// The version that the server speaks; its major number is 1.
    package var version: HTTPVersion
    /// The fields in the order in which they were sent.
    public var headers: HTTPFields

    /// Makes a head from its parts.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The fields. Default: none.
    public init(status: HTTPResponse.Status, headers: HTTPFields = [:]) {
        self.init(status: status, version: .http11, headers: headers)
    }

    /// Makes a head of another version of HTTP.
    package init(status: HTTPResponse.Status, version: HTTPVersion, headers: HTTPFields = [:]) {
        self.status = status
        self.version = version
        self.headers = headers
    }

    /// How the end of the body is found, which also hangs on the request (RFC 9112 section 6.3).
    ///
    /// - Parameter method: The method of the request that this answers; a response to HEAD never has a body.
    /// - Returns: The framing of this response's body.
    /// - Throws: ``HTTPProtocolError`` if Content-Length or Transfer-Encoding leave the length in doubt.
    public func framing(answering method: HTTPRequest.Method) throws(HTTPProtocolError) -> BodyFraming {
        try BodyFraming(responseHeaders: headers, status: status, version: version, answering: method)
    }

    /// Whether the connection may carry another request after this response (RFC 9112 section 9.3).
    ///
    /// A body that lasts until the connection closes ends it too, whatever the fields say.
    public var keepsAlive: Bool { headers.keepsAlive(version: version) }
}
