// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Why a connection was closed, for programs (RFC 6455 section 7.4; IANA registry "WebSocket Close Code Number").
public struct CloseCode: RawRepresentable, Sendable, Hashable {
    /// The number.
    public let rawValue: UInt16

    /// The code of that number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: the purpose of the connection is fulfilled.
    public static let normalClosure = CloseCode(rawValue: 1_000)
    /// 1001: the endpoint goes away: a server stops, a page is left.
    public static let goingAway = CloseCode(rawValue: 1_001)
    /// 1002: the peer broke the protocol.
    public static let protocolError = CloseCode(rawValue: 1_002)
    /// 1003: data of a kind that the endpoint can't accept.
    public static let unsupportedData = CloseCode(rawValue: 1_003)
    /// 1005: a close frame came without a code.
    ///
    /// Never on the wire: closing with it sends a close frame without a code, as browsers do by default.
    public static let noStatusReceived = CloseCode(rawValue: 1_005)
    /// 1006: no close frame came.
    ///
    /// In reports only, never on the wire.
    public static let abnormalClosure = CloseCode(rawValue: 1_006)
    /// 1007: data that doesn't fit its kind, such as text that isn't UTF-8.
    public static let invalidFramePayloadData = CloseCode(rawValue: 1_007)
    /// 1008: a message that breaks the endpoint's policy.
    public static let policyViolation = CloseCode(rawValue: 1_008)
    /// 1009: a message that is too big.
    public static let messageTooBig = CloseCode(rawValue: 1_009)
    /// 1010: the client wanted an extension that the server didn't agree to.
    public static let mandatoryExtension = CloseCode(rawValue: 1_010)
    /// 1011: something unexpected in the endpoint.
    public static let internalError = CloseCode(rawValue: 1_011)
    /// 1012: the service restarts.
    public static let serviceRestart = CloseCode(rawValue: 1_012)
    /// 1013: try again later.
    public static let tryAgainLater = CloseCode(rawValue: 1_013)
    /// 1014: a gateway got an invalid answer.
    public static let badGateway = CloseCode(rawValue: 1_014)
    /// 1015: the TLS handshake failed.
    ///
    /// In reports only, never on the wire.
    public static let tlsHandshake = CloseCode(rawValue: 1_015)

    /// Whether the code may stand in a close frame: the registered ones that aren't for reports only, 3000 to 3999
    /// (registered by libraries) and 4000 to 4999 (private) (RFC 6455 section 7.4.2).
    package var isSendable: Bool {
        switch rawValue {
        case 1_000...1_003, 1_007...1_014, 3_000...4_999: true
        default: false
        }
    }

    /// The registered name; `nil` for other codes.
    package var name: String? {
        switch self {
        case .normalClosure: "normal closure"
        case .goingAway: "going away"
        case .protocolError: "protocol error"
        case .unsupportedData: "unsupported data"
        case .noStatusReceived: "no status received"
        case .abnormalClosure: "abnormal closure"
        case .invalidFramePayloadData: "invalid frame payload data"
        case .policyViolation: "policy violation"
        case .messageTooBig: "message too big"
        case .mandatoryExtension: "mandatory extension"
        case .internalError: "internal error"
        case .serviceRestart: "service restart"
        case .tryAgainLater: "try again later"
        case .badGateway: "bad gateway"
        case .tlsHandshake: "TLS handshake"
        default: nil
        }
    }
}

extension CloseCode: ExpressibleByIntegerLiteral {
    /// The code of that number, such as one of an app's own from 4000 to 4999 (RFC 6455 section 7.4.2).
    public init(integerLiteral value: UInt16) {
        self.init(rawValue: value)
    }
}

extension CloseCode: CustomStringConvertible {
    /// The number, and the name where there is one: `1001 (going away)`.
    public var description: String {
        name.map { "\(rawValue) (\($0))" } ?? "\(rawValue)"
    }
}

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
    package init(code: CloseCode?, reason: String = "") {
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
    /// - Throws: ``WebSocketProtocolError`` with 1002 for a single byte or a code that may not go on the wire, 1007 for a reason
    ///   that isn't UTF-8.
    init(payload: [UInt8]) throws(WebSocketProtocolError) {
        if payload.isEmpty {
            self.init(code: nil)
            return
        }
        if payload.count == 1 { throw WebSocketProtocolError(.malformedClose, "A close frame has half a code.") }
        let code = try Self.check(prefix: payload)
        guard let reason = String(validating: payload[2...], as: UTF8.self) else { throw .invalidUTF8 }
        self.init(code: code, reason: reason)
    }

    /// Checks a payload of which two bytes or more have arrived, the code before the reason: the verdict must not hang
    /// on how much of it is there.
    ///
    /// - Returns: the code.
    /// - Throws: ``WebSocketProtocolError`` with 1002 for a code that may not go on the wire, 1007 at the first byte that no
    ///   reason can have.
    @discardableResult
    static func check(prefix payload: [UInt8]) throws(WebSocketProtocolError) -> CloseCode {
        let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        if !code.isSendable { throw WebSocketProtocolError(.malformedClose, "A close frame has the code \(code).") }
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
