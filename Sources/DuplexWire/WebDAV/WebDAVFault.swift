// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Why a request of WebDAV can't be done as it is written: 400.
package struct WebDAVFault: Error, Sendable, Hashable {
    /// What is wrong, in a sentence for people.
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}
