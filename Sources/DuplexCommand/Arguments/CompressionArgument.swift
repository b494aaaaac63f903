// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexWebSockets

/// Whether messages are compressed: the choices of ``WebSocketCompression``.
enum CompressionArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// Not at all.
    case off
    /// If the peer wants it, too.
    case on
    /// No connection without it.
    case required

    var compression: WebSocketCompression {
        switch self {
        case .off: .disabled
        case .on: .offered
        case .required: .required
        }
    }
}
