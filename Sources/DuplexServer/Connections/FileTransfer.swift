// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// The file of a response on its way to the client, and what comes behind it.
final class FileTransfer {
    let transfer: Transfer
    let trailers: HTTPFields
    /// How much the network had when that was looked at last, and when that was.
    var seen: (sent: UInt64, at: Instant)

    init(_ range: FileRange, trailers: HTTPFields, began: Instant) {
        transfer = Transfer(.file(range), id: 0, began: began)
        self.trailers = trailers
        seen = (0, began)
    }
}
