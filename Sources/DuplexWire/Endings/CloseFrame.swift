// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a close frame says (RFC 6455 section 5.5.1).
public struct CloseFrame: Sendable, Hashable {
    /// Why, for programs; `nil` when the frame is empty.
    public let code: CloseCode?
    /// Why, for people; at most 123 bytes of UTF-8.
    public let reason: String

    /// The longest reason: 125 bytes less two of code.
    static let maximumReason = 123

    /// Makes a close frame.
    ///
    /// - Parameters:
    ///   - code: why; `nil` for an empty frame.
    ///   - reason: cut at 123 bytes, before a scalar that doesn't fit; left out without a code.
    public init(code: CloseCode?, reason: String = "") {
        self.code = code
        self.reason = code == nil ? "" : Self.cut(reason)
    }

    private static func cut(_ reason: String) -> String {
        if reason.utf8.count <= maximumReason { return reason }
        var scalars = String.UnicodeScalarView()
        var count = 0
        for scalar in reason.unicodeScalars {
            count += UTF8.width(scalar)
            if count > maximumReason { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    /// Reads a payload.
    ///
    /// - Throws: ``ProtocolError`` with 1002 for a single byte or a code that may not go on the wire, 1007 for a reason
    ///   that isn't UTF-8.
    init(payload: [UInt8]) throws(ProtocolError) {
        if payload.isEmpty {
            self.init(code: nil)
            return
        }
        if payload.count == 1 { throw ProtocolError(.malformedClose, "A close frame has half a code.") }
        let code = try Self.check(prefix: payload)
        guard let reason = String(validating: payload[2...], as: UTF8.self) else { throw .invalidUTF8 }
        self.init(code: code, reason: reason)
    }

    /// Checks a payload of which two bytes or more have arrived, the code before the reason: the verdict must not hang
    /// on how much of it is there.
    ///
    /// - Returns: the code.
    /// - Throws: ``ProtocolError`` with 1002 for a code that may not go on the wire, 1007 at the first byte that no
    ///   reason can have.
    @discardableResult
    static func check(prefix payload: [UInt8]) throws(ProtocolError) -> CloseCode {
        let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        if !code.isSendable { throw ProtocolError(.malformedClose, "A close frame has the code \(code).") }
        var validator = UTF8Validator()
        if !validator.validate(payload.span.raw.extracting(droppingFirst: 2)) { throw .invalidUTF8 }
        return code
    }

    /// The payload.
    var payload: [UInt8] {
        guard let code else { return [] }
        return [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + reason.utf8
    }
}

extension CloseFrame: CustomStringConvertible {
    /// What it is, for people.
    public var description: String {
        guard let code else { return "no code" }
        return reason.isEmpty ? "\(code)" : "\(code), “\(reason)”"
    }
}
