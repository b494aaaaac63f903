// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Dispatch
public import DuplexDelegates
public import DuplexSockets
public import DuplexWebSockets
public import DuplexWire
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension DelegatedReconnectingWebSocket {
    /// Makes a client, whose delegate is called by operations of a queue.
    ///
    /// - Parameters:
    ///   - urls: where to connect to, the preferred one first; one at least.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the client's.
    public convenience init(
        _ urls: [String],
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        delegate: (any ReconnectingDelegate & Sendable)?,
        queue: OperationQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            urls,
            policy: policy,
            options: options,
            delegate: delegate,
            place: DelegatePlace(queue),
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a client by URLs, whose delegate is called on the main queue.
    ///
    /// - Parameters:
    ///   - urls: where to connect to, the preferred one first; one at least.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect.
    ///   - delegate: gets all events; kept weakly. Default: none.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the client's.
    @MainActor
    public convenience init(
        _ urls: [URL],
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        delegate: (any ReconnectingDelegate)? = nil,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            urls.map(\.absoluteString),
            policy: policy,
            options: options,
            delegate: delegate,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a client by URLs, whose delegate is called on a queue of the caller's.
    ///
    /// - Parameters:
    ///   - urls: where to connect to, the preferred one first; one at least.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the client's.
    public convenience init(
        _ urls: [URL],
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        delegate: (any ReconnectingDelegate & Sendable)?,
        queue: DispatchQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            urls.map(\.absoluteString),
            policy: policy,
            options: options,
            delegate: delegate,
            queue: queue,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a client by URLs, whose delegate is called by operations of a queue.
    ///
    /// - Parameters:
    ///   - urls: where to connect to, the preferred one first; one at least.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the client's.
    public convenience init(
        _ urls: [URL],
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        delegate: (any ReconnectingDelegate & Sendable)?,
        queue: OperationQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            urls.map(\.absoluteString),
            policy: policy,
            options: options,
            delegate: delegate,
            place: DelegatePlace(queue),
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a client by the URL, the header fields and the timeout of a request, whose delegate is called on the main queue.
    ///
    /// - Parameters:
    ///   - request: a GET request without a body. What it says takes precedence over the options.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect.
    ///   - delegate: gets all events; kept weakly. Default: none.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the client's.
    /// - Throws: as `WebSocketOptions.apply(_:)`.
    @MainActor
    public convenience init(
        request: URLRequest,
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        delegate: (any ReconnectingDelegate)? = nil,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) throws {
        var options = options
        let url = try options.webSocketOptions.apply(request)
        self.init(
            [url.absoluteString],
            policy: policy,
            options: options,
            delegate: delegate,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a client by the URL, the header fields and the timeout of a request, whose delegate is called on a queue of the caller's.
    ///
    /// - Parameters:
    ///   - request: a GET request without a body. What it says takes precedence over the options.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the client's.
    /// - Throws: as `WebSocketOptions.apply(_:)`.
    public convenience init(
        request: URLRequest,
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        delegate: (any ReconnectingDelegate & Sendable)?,
        queue: DispatchQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) throws {
        var options = options
        let url = try options.webSocketOptions.apply(request)
        self.init(
            [url.absoluteString],
            policy: policy,
            options: options,
            delegate: delegate,
            queue: queue,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a client by the URL, the header fields and the timeout of a request, whose delegate is called by operations of a queue.
    ///
    /// - Parameters:
    ///   - request: a GET request without a body. What it says takes precedence over the options.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect.
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the client's.
    /// - Throws: as `WebSocketOptions.apply(_:)`.
    public convenience init(
        request: URLRequest,
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        delegate: (any ReconnectingDelegate & Sendable)?,
        queue: OperationQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) throws {
        var options = options
        let url = try options.webSocketOptions.apply(request)
        self.init(
            [url.absoluteString],
            policy: policy,
            options: options,
            delegate: delegate,
            place: DelegatePlace(queue),
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }
}
