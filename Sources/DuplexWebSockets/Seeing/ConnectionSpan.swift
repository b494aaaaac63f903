// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Synchronization
package import Tracing

/// The span of an open connection; ended once, at the latest with this object.
package final class ConnectionSpan: Sendable {
    private let span: any Span
    private let isOver = Atomic<Bool>(false)

    init(_ span: any Span) {
        self.span = span
    }

    deinit {
        // A connection that was dropped without being closed.
        finish()
    }

    /// The context of what happens on the connection.
    package var context: InstrumentationContext { span.context }

    func named(_ id: ConnectionID) {
        span.updateAttributes { $0["websocket.connection.id"] = id.description }
    }

    /// Ends the span with how the connection ended.
    func ended(_ report: CloseReport, _ counts: SessionCounts, _ error: (any Error)?) {
        span.updateAttributes { attributes in
            attributes["websocket.close.code"] = Int(report.code.rawValue)
            switch report.initiator {
            case .local: attributes["websocket.close.initiator"] = "local"
            case .remote: attributes["websocket.close.initiator"] = "remote"
            case nil: break
            }
            attributes["websocket.messages.received"] = counts.messagesReceived
            attributes["websocket.messages.sent"] = counts.messagesSent
            attributes["websocket.bytes.received"] = counts.bytesReceived
            attributes["websocket.bytes.sent"] = counts.bytesSent
        }
        if let error {
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error, message: "\(report)"))
        } else if !report.isClean {
            span.setStatus(SpanStatus(code: .error, message: "\(report)"))
        }
        finish()
    }

    private func finish() {
        if !isOver.exchange(true, ordering: .relaxed) { span.end() }
    }
}
