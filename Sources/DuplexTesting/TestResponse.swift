// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes

/// A response as a ``TestClient`` has got it, whole.
public struct TestResponse: Sendable, Hashable {
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
    public var fields: HTTPFields { head.fields }
    /// The body as UTF-8; what isn't is replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }
}
