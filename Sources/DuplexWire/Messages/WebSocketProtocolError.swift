// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A rule of the protocol, or a limit, that was broken (RFC 6455 section 7.1.7).
public struct WebSocketProtocolError: Error, Sendable, Hashable {
    /// The kinds of violation; more may come.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: StaticString
        /// The code of the close frame that answers it.
        let closeCode: CloseCode

        private init(_ name: StaticString, _ closeCode: CloseCode) {
            self.name = name
            self.closeCode = closeCode
        }

        /// What it is, for people.
        public var description: String { name.description }

        /// Whether both are the same.
        public static func == (left: Code, right: Code) -> Bool { left.description == right.description }

        /// Feeds what makes it equal to others.
        public func hash(into hasher: inout Hasher) { hasher.combine(description) }

        /// A reserved bit is set without an extension that gives it a meaning (RFC 6455 section 5.2).
        public static let reservedBits = Code("reservedBits", .protocolError)
        /// An opcode has no meaning (RFC 6455 section 5.2).
        public static let reservedOpcode = Code("reservedOpcode", .protocolError)
        /// A length isn't in its shortest form (RFC 6455 section 5.2).
        public static let lengthNotMinimal = Code("lengthNotMinimal", .protocolError)
        /// A length doesn't fit 63 bits (RFC 6455 section 5.2).
        public static let lengthTooLarge = Code("lengthTooLarge", .protocolError)
        /// A client's frame isn't masked, or a server's is (RFC 6455 section 5.1).
        public static let wrongMasking = Code("wrongMasking", .protocolError)
        /// A control frame is fragmented or longer than 125 bytes (RFC 6455 section 5.5).
        public static let malformedControl = Code("malformedControl", .protocolError)
        /// A close frame has half a code, or one that may not go on the wire (RFC 6455 section 5.5.1, 7.4).
        public static let malformedClose = Code("malformedClose", .protocolError)
        /// A continuation without a beginning, or a beginning within a message (RFC 6455 section 5.4).
        public static let wrongFragmentation = Code("wrongFragmentation", .protocolError)
        /// Text that isn't UTF-8 (RFC 6455 section 8.1).
        public static let invalidUTF8 = Code("invalidUTF8", .invalidFramePayloadData)
        /// A compressed message that can't be inflated (RFC 7692 section 7.2.2).
        ///
        /// RFC 7692 has the connection fail and names no code. 1007 is for data that isn't what its message says it is
        /// (RFC 6455 section 7.4.1), as text that isn't UTF-8: the frames themselves are in order, which 1002 would deny.
        public static let malformedCompression = Code("malformedCompression", .invalidFramePayloadData)
        /// A frame is longer than ``MessageLimits/frameSize``.
        public static let frameTooLarge = Code("frameTooLarge", .messageTooBig)
        /// A message is longer than ``MessageLimits/messageSize``.
        public static let messageTooLarge = Code("messageTooLarge", .messageTooBig)
        /// A message has more frames than ``MessageLimits/fragments``.
        public static let tooManyFragments = Code("tooManyFragments", .policyViolation)
        /// A message took longer than ``MessageLimits/messageTime``.
        public static let messageTimeout = Code("messageTimeout", .policyViolation)
        /// The peer gave no sign of life within the keepalive's timeout.
        public static let keepaliveTimeout = Code("keepaliveTimeout", .internalError)
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
    public var blame: CloseReport.Side { .remote }
}

extension WebSocketProtocolError: CustomStringConvertible {
    /// What it is, for people.
    public var description: String {
        "WebSocketProtocolError.\(code) (\(closeCode.rawValue)): \(message)"
    }
}
