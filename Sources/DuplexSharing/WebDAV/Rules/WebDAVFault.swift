// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Why a request of WebDAV can't be done as it is written: 400.
struct WebDAVFault: Error, Sendable, Hashable {
    /// What is wrong, in a sentence for people.
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
