// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexWire

/// One file of a page, as it goes out.
package struct PageAsset: Sendable, Equatable {
    /// Its name below `assets/`.
    package let name: String
    /// The value of its `Content-Type` field.
    package let contentType: MediaType
    /// All of its text, to be sent as UTF-8.
    package let body: String

    package init(_ name: String, _ contentType: MediaType, _ body: String) {
        self.name = name
        self.contentType = contentType
        self.body = body
    }
}
