// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
public import DuplexWire
import Foundation
import HTTPTypes

/// The last requests of a server, kept while somebody looks, and for a minute behind that.
final class RequestHistory: RequestObserver {
    /// Numbered from 1 on.
    let ring: LiveRing<RecordedExchange>
    private let options: RequestHistoryOptions
    private let watchers: LiveWatchers

    /// - Parameters:
    ///   - options: how much is kept.
    ///   - grace: how long it goes on after its last viewer. Default: a minute.
    init(_ options: RequestHistoryOptions, grace: Duration = .seconds(60)) {
        self.options = options
        watchers = LiveWatchers(grace: grace)
        ring = LiveRing(keeping: options.count, options.size)
    }

    // MARK: Looking

    var gate: ObserverGate? { watchers.gate }

    /// Keeps requests for as long as the result is kept.
    func look() -> LiveHold { watchers.watch() }

    // MARK: Seeing

    func watcher(of request: Request, route: String?) -> (any ExchangeWatcher)? {
        RequestWatcher(request, route, keeping: options.bodySize.bytes) { [ring] exchange in
            let size = 512 + exchange.requestBody.bytes.count + exchange.responseBody.bytes.count
            ring.append(size: size) { number in
                var exchange = exchange
                exchange.id = number
                return exchange
            }
        }
    }

    func ended(_ request: Request, _ outcome: RequestOutcome) {}
}

/// How much an inspector keeps of the requests that come while somebody looks.
public struct RequestHistoryOptions: Sendable, Hashable {
    /// How many requests are kept.
    ///
    /// Default: 500.
    public var count = 500
    /// How much of each body is kept, of requests and of responses.
    ///
    /// Default: 64 KiB.
    public var bodySize = ByteCount.kibibytes(64)
    /// How much all of them may hold together.
    ///
    /// Default: 32 MiB.
    public var size = ByteCount.mebibytes(32)

    /// Makes the defaults.
    public init() {}
}

/// Puts together what is recorded of one request; on its loop.
private final class RequestWatcher: ExchangeWatcher {
    private let request: Request
    private var exchange: RecordedExchange
    private let limit: Int
    private let began: Instant
    private var answeredAt: Instant?
    /// Whether the whole body of the response was at hand.
    private var hasBody = false
    private let done: (RecordedExchange) -> Void

    init(
        _ request: Request,
        _ route: String?,
        keeping limit: Int,
        _ done: @escaping (RecordedExchange) -> Void
    ) {
        self.request = request
        let head = request.head
        let scheme = request.tls == nil ? "http" : "https"
        let target = head.query.map { "\(head.path)?\($0)" } ?? head.path
        let host = head.host.isEmpty ? request.connection.listenerAddress.map { "\($0)" } ?? "localhost" : head.host
        exchange = RecordedExchange(
            id: 0,
            began: Date().timeIntervalSince1970,
            method: head.method.rawValue,
            url: "\(scheme)://\(host)\(target)"
        )
        exchange.route = route
        exchange.peer = request.remoteAddress
        exchange.local = request.connection.listenerAddress
        exchange.requestHeaders = request.headers
        exchange.requestBody.isCoded = Self.isCoded(request.headers)
        self.limit = limit
        self.done = done
        began = .now()
    }

    func received(_ bytes: RawSpan) { exchange.requestBody.append(bytes, upTo: limit) }

    func answered(_ response: Response) {
        answeredAt = .now()
        exchange.status = response.status.code
        exchange.reason = response.status.reasonPhrase
        exchange.responseHeaders = response.headers
        exchange.responseBody = RecordedBytes()
        let isSent = exchange.method != "HEAD" && ![.noContent, .notModified].contains(response.status)
        if isSent, let bytes = response.body.uncoded.bytes {
            exchange.responseBody.append(bytes.span.raw, upTo: limit)
            hasBody = true
        }
        // What the server itself compresses was at hand before.
        exchange.responseBody.isCoded = Self.isCoded(response.headers) && !(hasBody && response.body.isCoded)
    }

    /// Whether a body goes over the wire compressed (RFC 9110 section 8.4).
    private static func isCoded(_ headers: HTTPFields) -> Bool {
        guard let coding = headers[.contentEncoding] else { return false }
        return coding.lowercased() != "identity"
    }

    func sent(_ piece: RawSpan) {
        // What was at hand may go out coded, piece by piece.
        if !hasBody { exchange.responseBody.append(piece, upTo: limit) }
    }

    func ended(_ outcome: RequestOutcome) {
        let now = Instant.now()
        let answeredAt = answeredAt ?? now
        exchange.durations.handler = began.duration(to: answeredAt).inSeconds
        exchange.durations.sending = answeredAt.duration(to: now).inSeconds
        // Of a file nothing but its length is seen.
        if !hasBody { exchange.responseBody.size = max(exchange.responseBody.size, UInt64(outcome.bytesSent)) }
        if outcome.status == nil { exchange.status = 0 }
        if outcome.isIncomplete { exchange.error = "The client has gone." }
        if let error = outcome.error { exchange.error = "\(error)" }
        // Those of an inspector are nobody's business.
        if request[SecretRequest.self] != true { done(exchange) }
    }
}

extension RecordedBytes {
    /// Adds bytes, of which the first are kept.
    mutating func append(_ more: RawSpan, upTo limit: Int) {
        size += UInt64(more.byteCount)
        let room = limit - bytes.count
        if room > 0 { bytes += [UInt8](copying: more.extracting(first: min(room, more.byteCount))) }
    }
}
