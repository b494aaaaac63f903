// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
public import Tracing

/// Makes a span of each request, below the client's if its fields have one.
///
/// Names and attributes are OpenTelemetry's. Spans don't have the URL's query, which may hold a token.
struct RequestTracing: RequestObserver {
    private let tracer: any Tracer

    init(_ tracer: any Tracer) {
        self.tracer = tracer
    }

    func began(_ request: Request, route: String?) {
        var context = InstrumentationContext.topLevel
        tracer.extract(request.headers, into: &context, using: FieldExtractor())
        let (method, version) = (request.method.knownName, request.head.version)
        let name = route.map { "\(method ?? "HTTP") \($0)" } ?? method ?? "HTTP"
        let span = tracer.startSpan(name, context: context, ofKind: .server)
        span.updateAttributes { attributes in
            attributes["http.request.method"] = method ?? "_OTHER"
            if method == nil { attributes["http.request.method_original"] = request.method.rawValue }
            if let route { attributes["http.route"] = route }
            attributes["url.path"] = request.path
            attributes["url.scheme"] = request.tls == nil ? "http" : "https"
            attributes["network.protocol.version"] = "\(version.major).\(version.minor)"
            if let agent = request.head.value(of: .userAgent) { attributes["user_agent.original"] = agent }
            attributes.setServer(request.head.host)
            attributes.setPeer(request.remoteAddress)
        }
        request[RequestSpan.self] = span
    }

    func ended(_ request: Request, _ outcome: RequestOutcome) {
        guard let span = request[RequestSpan.self] else { return }
        span.updateAttributes { attributes in
            if let status = outcome.status { attributes["http.response.status_code"] = status.code }
            attributes["http.request.body.size"] = outcome.bytesReceived
            attributes["http.response.body.size"] = outcome.bytesSent
            if let type = outcome.errorType { attributes["error.type"] = type }
        }
        if let error = outcome.error { span.recordError(error) }
        // Of a server only what is its own fault is an error.
        if outcome.errorType != nil { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }
}

extension RequestOutcome {
    /// What went wrong by OpenTelemetry's `error.type`; `nil` where nothing did that is the server's fault.
    var errorType: String? {
        if let error { return "\(type(of: error))" }
        if isIncomplete { return "cut" }
        return status.flatMap { $0.code >= 500 ? "\($0.code)" : nil }
    }
}

extension HTTPRequest.Method {
    /// The name of a method that OpenTelemetry knows; others are many, since clients choose them.
    var knownName: String? {
        switch self {
        case .get, .head, .post, .put, .delete, .connect, .options, .trace, .patch: rawValue
        default: nil
        }
    }
}

// MARK: Handlers within spans

extension RouteHandler {
    /// The same in the context of the request's span, the middleware in front of it included; to be linked behind this.
    var inSpan: RouteHandler {
        switch self {
        case .immediate(let handler):
            .immediate { request in
                guard let context = request[RequestSpan.self]?.context else { return try handler(request) }
                let response = try InstrumentationContext.withValue(context) { try handler(request) }
                return response.written(in: context)
            }
        case .atOnceOrTask(let handler, let other):
            .atOnceOrTask { request in
                guard let context = request[RequestSpan.self]?.context else { return try handler(request) }
                let response = try InstrumentationContext.withValue(context) { try handler(request) }
                return response?.written(in: context)
            } otherwise: { request in
                try await Self.task(other).inSpan(request)
            }
        case .task(let handler), .linked(let handler):
            .task { request in
                guard let context = request[RequestSpan.self]?.context else { return try await handler(request) }
                let response = try await InstrumentationContext.withValue(context) { try await handler(request) }
                return response.written(in: context)
            }
        }
    }
}

extension Response {
    /// The same, whose body is written in that context where a task does that.
    fileprivate func written(in context: InstrumentationContext) -> Response {
        guard case .writer(let length, let write) = body.content else { return self }
        var response = self
        response.body = .writer(length: length) { writer in
            try await InstrumentationContext.withValue(context) { try await write(writer) }
        }
        return response
    }
}

/// The span of a request, where ``WebServer/tracer`` makes one: `request[RequestSpan.self]`.
///
/// It is ended by the server. Its context is that of the handler, and of what writes the response's body.
public enum RequestSpan: RequestKey {
    /// The span.
    public typealias Value = any Span
}
