// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A rule of the protocol, or a limit, that was broken (RFC 6455 section 7.1.7).
public struct WebSocketProtocolError: Error, Sendable, Hashable {
    /// The kinds of violations; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// A reserved bit is set without an extension that gives it a meaning (RFC 6455 section 5.2).
        case reservedBits
        /// An opcode has no meaning (RFC 6455 section 5.2).
        case reservedOpcode
        /// A length isn't in its shortest form (RFC 6455 section 5.2).
        case lengthNotMinimal
        /// A length doesn't fit 63 bits (RFC 6455 section 5.2).
        case lengthTooLarge
        /// A client's frame isn't masked, or a server's is (RFC 6455 section 5.1).
        case wrongMasking
        /// A control frame is fragmented or longer than 125 bytes (RFC 6455 section 5.5).
        case malformedControl
        /// A close frame has half a code, or one that may not go on the wire (RFC 6455 section 5.5.1, 7.4).
        case malformedClose
        /// A continuation without a beginning, or a beginning within a message (RFC 6455 section 5.4).
        case wrongFragmentation
        /// Text that isn't UTF-8 (RFC 6455 section 8.1).
        case invalidUTF8
        /// A compressed message that can't be inflated (RFC 7692 section 7.2.2).
        ///
        /// RFC 7692 has the connection fail and names no code. 1007 is for data that isn't what its message says it is
        /// (RFC 6455 section 7.4.1), as text that isn't UTF-8: the frames themselves are in order, which 1002 would deny.
        case malformedCompression
        /// A frame is longer than ``MessageLimits/frameSize``.
        case frameTooLarge
        /// A message is longer than ``MessageLimits/messageSize``.
        case messageTooLarge
        /// A message has more frames than ``MessageLimits/fragments``.
        case tooManyFragments
        /// A message took longer than ``MessageLimits/messageTime``.
        case messageTimeout
        /// The peer gave no sign of life within the timeout of its ping.
        case pingTimeout

        /// The code of the close frame that answers it.
        var closeCode: CloseCode {
            switch self {
            case .reservedBits, .reservedOpcode, .lengthNotMinimal, .lengthTooLarge, .wrongMasking,
                .malformedControl, .malformedClose, .wrongFragmentation:
                .protocolError
            case .invalidUTF8, .malformedCompression:
                .invalidFramePayloadData
            case .frameTooLarge, .messageTooLarge:
                .messageTooBig
            case .tooManyFragments, .messageTimeout:
                .policyViolation
            case .pingTimeout:
                .internalError
            }
        }
    }

    /// The kind of violation, for programs.
    public let code: Code
    /// What was seen, for people.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    static let invalidUTF8 = WebSocketProtocolError(.invalidUTF8, "A text isn't UTF-8.")

    static let malformedCompression = WebSocketProtocolError(
        .malformedCompression,
        "A compressed message can't be inflated."
    )

    /// The code of the close frame that answers it.
    public var closeCode: CloseCode { code.closeCode }

    /// Whose fault it is: the peer's, who sent what it must not, or stayed silent.
    package var blame: CloseReport.Side { .remote }
}

extension WebSocketProtocolError: CustomStringConvertible {
    /// What it is, for people.
    public var description: String {
        "WebSocketProtocolError.\(code) (\(closeCode.rawValue)): \(message)"
    }
}
