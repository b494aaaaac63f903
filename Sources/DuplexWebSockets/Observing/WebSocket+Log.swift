// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import DuplexWire
package import Logging

// What is logged of a connection: its opening and its end, and nothing for each message.

extension WebSocket {
    /// Logs at `debug` that the connection is open, and its peer.
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

    /// Logs how the connection ended.
    ///
    /// At `debug` if in order; else at `notice`, but for a server, whose peers may be anybody: at `debug` as well, and
    /// counted in the summary.
    package func logEnd(to logger: Logger, summary: EndSummary? = nil) {
        let isOfServer = session.role == .server
        if let reason = faultOfPeer { summary?.count(reason, on: loop.core) }
        let (message, fault) = endMessage
        let isFault = fault != nil
        logger.log(level: isFault && !isOfServer ? .notice : .debug, message, metadata: fault ?? endMetadata)
    }

    /// The text about the end, with the error if it wasn't in order.
    private var endMessage: (Logger.Message, Logger.Metadata?) {
        if session.report.error != nil { return ("a WebSocket has failed", endMetadata) }
        if case .lost(let error) = ending {
            return ("a WebSocket was lost", endMetadata.merging(["error": "\(error)"]) { $1 })
        }
        if !session.report.isClean { return ("a WebSocket ended without a closing handshake", endMetadata) }
        return ("a WebSocket is closed", nil)
    }

    private var faultOfPeer: EndSummary.Reason? {
        if let error = session.report.error {
            if error.blame == .local { return nil }
            return [.keepaliveTimeout, .messageTimeout].contains(error.code) ? .silent : .violation
        }
        if case .lost = ending { return .lost }
        return session.report.isClean ? nil : .unclosed
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
