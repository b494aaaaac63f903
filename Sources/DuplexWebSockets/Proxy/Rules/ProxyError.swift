// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes

/// Why a proxy didn't make the connection that it was asked for.
public struct ProxyError: Error, Sendable, Hashable {
    /// The kind of failure; an open set, to which later versions may add.
    public struct Code: ErrorCode {
        /// The code's name, such as `refused`.
        public let rawValue: String

        /// Makes a code of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Its protocol can't express the request: a name or a password that is too long, an address of the wrong
        /// family.
        public static let invalidRequest = Code(rawValue: "invalidRequest")
        /// It answered, and not in its protocol.
        public static let malformedAnswer = Code(rawValue: "malformedAnswer")
        /// It asks for credentials, for others, or by a scheme that isn't known here.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// It won't connect to there.
        public static let forbidden = Code(rawValue: "forbidden")
        /// It tried, and the target couldn't be reached.
        public static let unreachable = Code(rawValue: "unreachable")
        /// It refused for another reason.
        public static let refused = Code(rawValue: "refused")
        /// The connection was closed before the answer was complete.
        public static let connectionClosed = Code(rawValue: "connectionClosed")
    }

    /// The kind of failure.
    public let code: Code
    /// What was seen, in plain words.
    public let message: String
    /// The status of an HTTP proxy's answer; nil without one.
    public let status: HTTPResponse.Status?
    /// The fields of an HTTP proxy's answer; nil without one.
    public let headers: HTTPFields?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What was seen.
    ///   - response: The head of an HTTP proxy's answer.
    public init(_ code: Code, _ message: String, response: ResponseHead? = nil) {
        self.code = code
        self.message = message
        self.status = response?.status
        self.headers = response?.headers
    }
}

extension ProxyError: CustomStringConvertible {
    /// The code and the message in one line.
    public var description: String { "ProxyError.\(code.rawValue): \(message)" }
}

/// What to do next for a connection through a proxy.
public enum ProxyStep: Sendable, Hashable {
    /// Wait for more.
    case wait
    /// Send these bytes, and wait for the answer.
    case send([UInt8])
    /// Connect to the proxy anew and begin again with the same value: it closes this connection.
    case reconnect
    /// The connection is made; every byte from here on is the target's.
    case established
}
