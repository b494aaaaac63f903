// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Dispatch
public import DuplexDelegates
public import DuplexSockets
public import DuplexWebSockets
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension DelegatedWebSocket {
    /// Makes a connection, whose delegate is called by operations of a queue.
    ///
    /// - Parameters:
    ///   - url: as in `WebSocket.connect(to:options:on:handler:)`.
    ///   - options: headers, subprotocols, limits and times.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages and pings that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    public convenience init(
        url: String,
        options: WebSocketOptions = WebSocketOptions(),
        delegate: (any WebSocketDelegate & Sendable)?,
        queue: OperationQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            url: url,
            options: options,
            delegate: delegate,
            place: DelegatePlace(queue),
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a connection by a URL, whose delegate is called on the main queue.
    ///
    /// - Parameters:
    ///   - url: where to connect to.
    ///   - options: headers, subprotocols, limits and times.
    ///   - delegate: gets all events; kept weakly. Default: none.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages and pings that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    @MainActor
    public convenience init(
        url: URL,
        options: WebSocketOptions = WebSocketOptions(),
        delegate: (any WebSocketDelegate)? = nil,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            url: url.absoluteString,
            options: options,
            delegate: delegate,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a connection by a URL, whose delegate is called on a queue of the caller's.
    ///
    /// - Parameters:
    ///   - url: where to connect to.
    ///   - options: headers, subprotocols, limits and times.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages and pings that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    public convenience init(
        url: URL,
        options: WebSocketOptions = WebSocketOptions(),
        delegate: (any WebSocketDelegate & Sendable)?,
        queue: DispatchQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            url: url.absoluteString,
            options: options,
            delegate: delegate,
            queue: queue,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a connection by a URL, whose delegate is called by operations of a queue.
    ///
    /// - Parameters:
    ///   - url: where to connect to.
    ///   - options: headers, subprotocols, limits and times.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages and pings that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    public convenience init(
        url: URL,
        options: WebSocketOptions = WebSocketOptions(),
        delegate: (any WebSocketDelegate & Sendable)?,
        queue: OperationQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            url: url.absoluteString,
            options: options,
            delegate: delegate,
            place: DelegatePlace(queue),
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a connection by the URL, the header fields and the timeout of a request, whose delegate is called on the main queue.
    ///
    /// - Parameters:
    ///   - request: a GET request without a body. What it says takes precedence over the options.
    ///   - options: headers, subprotocols, limits and times.
    ///   - delegate: gets all events; kept weakly. Default: none.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages and pings that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    /// - Throws: as `WebSocketOptions.apply(_:)`.
    @MainActor
    public convenience init(
        request: URLRequest,
        options: WebSocketOptions = WebSocketOptions(),
        delegate: (any WebSocketDelegate)? = nil,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) throws {
        var options = options
        let url = try options.apply(request)
        self.init(
            url: url.absoluteString,
            options: options,
            delegate: delegate,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a connection by the URL, the header fields and the timeout of a request, whose delegate is called on a queue of the caller's.
    ///
    /// - Parameters:
    ///   - request: a GET request without a body. What it says takes precedence over the options.
    ///   - options: headers, subprotocols, limits and times.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages and pings that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    /// - Throws: as `WebSocketOptions.apply(_:)`.
    public convenience init(
        request: URLRequest,
        options: WebSocketOptions = WebSocketOptions(),
        delegate: (any WebSocketDelegate & Sendable)?,
        queue: DispatchQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) throws {
        var options = options
        let url = try options.apply(request)
        self.init(
            url: url.absoluteString,
            options: options,
            delegate: delegate,
            queue: queue,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a connection by the URL, the header fields and the timeout of a request, whose delegate is called by operations of a queue.
    ///
    /// - Parameters:
    ///   - request: a GET request without a body. What it says takes precedence over the options.
    ///   - options: headers, subprotocols, limits and times.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages and pings that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    /// - Throws: as `WebSocketOptions.apply(_:)`.
    public convenience init(
        request: URLRequest,
        options: WebSocketOptions = WebSocketOptions(),
        delegate: (any WebSocketDelegate & Sendable)?,
        queue: OperationQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) throws {
        var options = options
        let url = try options.apply(request)
        self.init(
            url: url.absoluteString,
            options: options,
            delegate: delegate,
            place: DelegatePlace(queue),
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }
}
