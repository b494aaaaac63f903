// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
package import Logging

// What is logged of a connection: its opening and its end, and nothing for each message.

extension WebSocket {
    /// Logs at `debug` that the connection is open, and with whom.
    package func logOpening(to logger: Logger) {
        logger.debug("a WebSocket is open", metadata: openingMetadata)
    }

    private var openingMetadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "connection": "\(id)", "peer": "\(remoteAddress?.description ?? "?")",
            "took": "\(HandshakeTimeline.text(timeline.began.duration(to: session.began)))",
        ]
        if let subprotocol { metadata["subprotocol"] = "\(subprotocol)" }
        if compression != nil { metadata["compression"] = "permessage-deflate" }
        return metadata
    }

    /// Logs how the connection ended: at `debug` if in order, else at `notice`.
    package func logEnd(to logger: Logger) {
        let report = session.report
        if report.error != nil {
            logger.notice("a WebSocket has failed", metadata: endMetadata)
        } else if case .lost(let error) = ending {
            logger.notice("a WebSocket was lost", metadata: endMetadata.merging(["error": "\(error)"]) { $1 })
        } else if !report.isClean {
            logger.notice("a WebSocket ended without a closing handshake", metadata: endMetadata)
        } else {
            logger.debug("a WebSocket is closed", metadata: endMetadata)
        }
    }

    private var endMetadata: Logger.Metadata {
        let counts = session.counts
        return [
            "connection": "\(id)", "peer": "\(remoteAddress?.description ?? "?")", "report": "\(session.report)",
            "in": "\(counts.messagesReceived) messages, \(counts.bytesReceived) bytes",
            "out": "\(counts.messagesSent) messages, \(counts.bytesSent) bytes",
        ]
    }
}
