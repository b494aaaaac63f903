// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexWire
package import HTTPTypes

/// Why a proxy didn't make the connection that it was asked for.
package struct ProxyError: Error, Sendable, Hashable {
    /// The kinds of failures; later versions may add some.
    package enum Code: String, Sendable {
        /// Its protocol can't express the request: a name or a password that is too long, an address of the wrong
        /// family.
        case invalidRequest
        /// It answered, and not in its protocol.
        case malformedAnswer
        /// It asks for credentials, for others, or by a scheme that isn't known here.
        case unauthorized
        /// It won't connect to there.
        case forbidden
        /// It tried, and the target couldn't be reached.
        case unreachable
        /// It refused for another reason.
        case refused
        /// The connection was closed before the answer was complete.
        case connectionClosed
    }

    /// The kind of failure.
    package let code: Code
    /// What was seen, in plain words.
    package let message: String
    /// The status of an HTTP proxy's answer; nil without one.
    package let status: HTTPResponse.Status?
    /// The fields of an HTTP proxy's answer; nil without one.
    package let headers: HTTPFields?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What was seen.
    ///   - response: The head of an HTTP proxy's answer.
    package init(_ code: Code, _ message: String, response: ResponseHead? = nil) {
        self.code = code
        self.message = message
        self.status = response?.status
        self.headers = response?.headers
    }
}

extension ProxyError: CustomStringConvertible {
    /// The code and the message in one line.
    package var description: String { "ProxyError.\(code.rawValue): \(message)" }
}

/// What to do next for a connection through a proxy.
package enum ProxyStep: Sendable, Hashable {
    /// Wait for more.
    case wait
    /// Send these bytes, and wait for the answer.
    case send([UInt8])
    /// Connect to the proxy anew and begin again with the same value: it closes this connection.
    case reconnect
    /// The connection is made; every byte from here on is the target's.
    case established
}
