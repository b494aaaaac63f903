// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Tracing

// Handlers within the spans of their requests.

extension RouteHandler {
    /// The same in the context of the request's span, the steps in front of it included; to be linked behind this.
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
