// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
package import DuplexWire
package import HTTPTypes
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

/// The span of an opening handshake, where a tracer is given; ended once, at the latest with this object.
///
/// Attributes have OpenTelemetry's names. They don't have the URL's credentials and query, which may hold a token.
package final class HandshakeSpan: Sendable {
    private let tracer: any Tracer
    private let parent: InstrumentationContext
    private let span: any Span
    private let isOver = Atomic<Bool>(false)

    /// Begins the span of a client, below the caller's.
    init(_ tracer: any Tracer, to url: WebSocketURL) {
        self.tracer = tracer
        parent = .current ?? .topLevel
        span = tracer.startSpan("WebSocket handshake", context: parent, ofKind: .client)
        span.updateAttributes { attributes in
            attributes["http.request.method"] = "GET"
            attributes["url.full"] = url.withoutQuery
            attributes["url.scheme"] = url.isSecure ? "wss" : "ws"
            attributes["server.address"] = url.unixPath ?? url.host
            if url.unixPath == nil { attributes["server.port"] = url.port }
        }
    }

    /// Begins the span of a server, below the one in the request's fields.
    package init(_ tracer: any Tracer, for head: RequestHead, from address: SocketAddress?) {
        self.tracer = tracer
        var context = InstrumentationContext.topLevel
        tracer.extract(head.headers, into: &context, using: FieldExtractor())
        parent = context
        span = tracer.startSpan("WebSocket handshake", context: parent, ofKind: .server)
        span.updateAttributes { attributes in
            attributes["http.request.method"] = head.method.rawValue
            attributes["url.path"] = head.path
            attributes.setServer(head.host)
            attributes.setPeer(address)
        }
    }

    deinit {
        end()
    }

    /// Runs what belongs to the handshake in the context of its span.
    package func around<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await InstrumentationContext.withValue(span.context) { try await body() }
    }

    /// Puts the context of this span into the request; a field of the caller's own stays.
    func inject(into headers: inout HTTPFields) {
        tracer.inject(span.context, into: &headers, using: FieldInjector())
    }

    /// Ends the span with a refusal.
    package func refused(_ status: HTTPResponse.Status) {
        span.updateAttributes { $0["http.response.status_code"] = status.code }
        // Of a server only what is its own fault is an error.
        if status.code >= 500 { span.setStatus(SpanStatus(code: .error)) }
        end()
    }

    /// Ends the span of a client with what went wrong.
    func failed(_ error: any Error) {
        span.recordError(error)
        let described = error as? WebSocketError
        span.setStatus(SpanStatus(code: .error, message: described?.message))
        span.updateAttributes { attributes in
            attributes["error.type"] = described?.code.rawValue ?? "\(type(of: error))"
            if let status = described?.status { attributes["http.response.status_code"] = status.code }
            if let timeline = described?.timeline { attributes.set(timeline) }
        }
        end()
    }

    /// Ends the span with an open connection, and begins that one's.
    package func opened(
        _ handshake: HandshakeTimeline?,
        _ address: SocketAddress?,
        _ subprotocol: String?
    ) -> ConnectionSpan {
        span.updateAttributes { attributes in
            attributes["http.response.status_code"] = 101
            if let handshake { attributes.set(handshake) }
        }
        let kind: SpanKind = handshake == nil ? .server : .client
        let connection = tracer.startSpan("WebSocket", context: parent, ofKind: kind)
        connection.addLink(SpanLink(context: span.context, attributes: [:]))
        connection.updateAttributes { attributes in
            attributes.setPeer(address)
            if let subprotocol { attributes["websocket.subprotocol"] = subprotocol }
            for name in ["url.full", "url.path", "server.address", "server.port"] {
                if let value = span.attributes.get(name) { attributes.set(name, value: value) }
            }
        }
        end()
        return ConnectionSpan(connection)
    }

    private func end() {
        if !isOver.exchange(true, ordering: .relaxed) { span.end() }
    }
}

extension SpanAttributes {
    fileprivate mutating func set(_ timeline: HandshakeTimeline) {
        setPeer(timeline.remoteAddress)
        self["network.protocol.name"] = "http"
        self["network.protocol.version"] = "1.1"
        if timeline.requests > 1 { self["http.request.resend_count"] = timeline.requests - 1 }
        guard let security = timeline.security else { return }
        self["tls.protocol.version"] = security.version == .tls13 ? "1.3" : "1.2"
        self["tls.resumed"] = security.isResumed
    }

    // MARK: The two sides, by OpenTelemetry's names

    /// Takes `host[:port]`, as a request names it.
    package mutating func setServer(_ host: String) {
        let colon = host.lastIndex(of: ":")
        if let colon, let port = Int(host[host.index(after: colon)...]) {
            self["server.address"] = String(host[..<colon])
            self["server.port"] = port
        } else {
            self["server.address"] = host
        }
    }

    package mutating func setPeer(_ address: SocketAddress?) {
        guard let address else { return }
        self["network.peer.address"] = address.path ?? address.host
        if address.path == nil { self["network.peer.port"] = address.port }
    }
}

extension WebSocketURL {
    /// The URL without credentials, as always, and up to the question mark.
    var withoutQuery: String { String(description.prefix { $0 != "?" }) }
}

/// Puts an instrument's values into the fields of a request.
struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPFields) {
        guard let name = HTTPField.Name(key), !headers.contains(name) else { return }
        headers[name] = value
    }
}

/// Reads an instrument's values from the fields of a request.
package struct FieldExtractor: Extractor {
    package init() {}

    package func extract(key: String, from headers: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { headers[$0] }
    }
}
