// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
public import Tracing

/// The span of a request, where ``WebServer/tracer`` makes one: `request[RequestSpan.self]`.
///
/// It is ended by the server. Its context is that of the handler, and of what writes the response's body.
public enum RequestSpan: RequestKey {
    /// The span.
    public typealias Value = any Span
}
