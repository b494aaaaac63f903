// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser

/// A user and a password on the command line: `name:password`.
struct PasswordArgument: ExpressibleByArgument, Sendable, Hashable {
    let user: String
    let password: String

    /// Takes a name, a colon, and all that follows: a password may have colons, a name may not (RFC 7617 section 2).
    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), colon != argument.startIndex else { return nil }
        user = String(argument[..<colon])
        password = String(argument[argument.index(after: colon)...])
        if password.isEmpty { return nil }
    }
}
