// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a Redis server, or what answers in its place, has sent that isn't RESP, or is more than this side takes.
struct RedisProtocolError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault.
    enum Code: Sendable, Hashable {
        /// The bytes aren't RESP.
        case malformed
        /// A message is beyond ``RedisLimits``.
        case limitExceeded
    }

    /// The kind of fault.
    let code: Code
    /// What was seen, in plain words.
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    var description: String { message }
}
