// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes

/// A response as a ``TestClient`` has got it, whole.
public struct TestResponse: Sendable, Hashable, CustomStringConvertible {
    /// The first line and the fields.
    public let head: ResponseHead
    /// The bytes of the body.
    public let body: [UInt8]
    /// The fields after a body in chunks.
    public let trailers: HTTPFields
    /// The interim responses that came before it, such as `100 Continue`.
    public let interim: [ResponseHead]

    /// The status.
    public var status: HTTPResponse.Status { head.status }
    /// The fields.
    public var headers: HTTPFields { head.headers }
    /// The body as UTF-8; what isn't is replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The status, the fields and the text, as a test that fails prints them: a body of at most 1,024 bytes of UTF-8 whole,
    /// another by its length.
    public var description: String {
        let fields = headers.map { "\($0.name): \($0.value)" }
        let isShown = body.count <= 1_024 && String(validating: body, as: UTF8.self) != nil
        let content = body.isEmpty ? [] : ["", isShown ? text : "(\(body.count) bytes)"]
        return (["\(status)"] + fields + content).joined(separator: "\n")
    }
}
