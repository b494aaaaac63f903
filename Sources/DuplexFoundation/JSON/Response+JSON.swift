// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexWire
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Response {
    /// Makes a response of a value in JSON.
    ///
    /// - Parameters:
    ///   - status: the status. Default: 200.
    ///   - value: the value.
    ///   - type: the media type. Default: `application/json`.
    ///   - fields: further fields.
    ///   - encoder: writes the JSON. Default: Foundation's, as it is.
    /// - Throws: `EncodingError`.
    public init(
        _ status: HTTPResponse.Status = .ok,
        json value: some Encodable,
        type: MediaType = .json,
        fields: HTTPFields = HTTPFields(),
        encoder: JSONEncoder = JSONEncoder()
    ) throws {
        self.init(status: status, type: type, fields: fields, body: [UInt8](try encoder.encode(value)))
    }
}
