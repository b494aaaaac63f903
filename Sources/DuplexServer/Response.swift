// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// An answer to a request.
///
/// Its length, the date and what concerns the connection are added when it is sent.
public struct Response: Sendable {
    /// The status; 200 unless told otherwise.
    public var status: HTTPResponse.Status
    /// The fields.
    public var fields: HTTPFields
    /// The body; not sent in answer to HEAD.
    public var body: [UInt8]

    /// Makes a response of bytes.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - type: the media type of the body; left out when `nil`.
    ///   - fields: further fields.
    ///   - body: the body.
    public init(
        status: HTTPResponse.Status = .ok,
        type: String? = nil,
        fields: HTTPFields = [:],
        body: [UInt8] = []
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        if let type { self.fields[.contentType] = type }
    }

    /// A response of plain text.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, type: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    /// A response that tells a person what was wrong: the status and a sentence.
    static func problem(_ status: HTTPResponse.Status, _ sentence: String, fields: HTTPFields = [:]) -> Response {
        var response = Response.text("\(status.code) \(status.reasonPhrase)\n\(sentence)\n", status: status)
        for field in fields { response.fields.append(field) }
        return response
    }
}

/// What a route may return: a ``Response``, or something that makes one.
public protocol ResponseConvertible: Sendable {
    /// The response that is sent.
    var response: Response { get }
}

extension Response: ResponseConvertible {
    /// The response itself.
    public var response: Response { self }
}

extension String: ResponseConvertible {
    /// The text as `text/plain` in UTF-8.
    public var response: Response { .text(self) }
}
