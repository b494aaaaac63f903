// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// The server's side of one HTTP/1.1 connection, without a socket: bytes to events, commands to bytes (RFC 9112).
///
/// Feed it with ``next(_:from:now:)`` until that returns nil. Requests are taken one at a time: what follows a request
/// stays in the input until its response has ended, so a client's pipeline is answered in order and bounded by what its
/// owner receives (RFC 9112 section 9.3.2). Everything about framing is decided here: whether the connection persists,
/// whether a body goes by length or in chunks, and whether there may be a body at all.
///
/// Time is handed in; ``deadline`` says when ``timeOut(now:)`` is to be asked. It can't be copied: of a connection there is
/// one.
@usableFromInline
package struct HTTPServerSession: ~Copyable, Sendable {
    /// What a client has sent.
    package enum Event: Sendable {
        /// A request. Its body follows, and then ``end(trailers:)``, unless ``RequestHead/framing`` is `none`.
        case request(RequestHead)
        /// Bytes of the request's body, by their place in the input.
        case body(Range<Int>)
        /// The end of the request's body.
        case end(trailers: HTTPFields)
        /// The client has broken a rule or a limit; nothing more is taken.
        ///
        /// The request is answered with the status of the error if its response hasn't begun, and the connection ends.
        case violation(HTTPProtocolError)
    }

    /// What a session is held to.
    package struct Settings: Sendable {
        /// Of these, `headSize`, `headFields`, `headTime`, `bodySize` and `bodyRate`.
        package var limits: HTTPLimits
        /// How long the connection may stay without a request.
        ///
        /// Default: 60 s.
        package var idleTime: Duration
        /// How much of a request's body that the app didn't take is read past to keep the connection.
        ///
        /// Default: 64 KiB.
        package var discardSize: ByteCount

        /// Makes settings.
        package init(
            limits: HTTPLimits = .internet,
            idleTime: Duration = .seconds(60),
            discardSize: ByteCount = .kibibytes(64)
        ) {
            self.limits = limits
            self.idleTime = idleTime
            self.discardSize = discardSize
        }
    }

    /// Settings in one place for all sessions that are held to them.
    package final class SharedSettings: Sendable {
        /// What they are.
        package let values: Settings
        /// The idle time in nanoseconds.
        let idleTime: Int64

        /// Makes them of a value.
        package init(_ values: Settings) {
            self.values = values
            idleTime = values.idleTime.wholeNanoseconds
        }
    }

    /// What of the present request has come.
    enum Input: Sendable {
        /// Nothing, or a part of its head.
        case head
        /// The head; the body is for the app.
        ///
        /// Decoders lie elsewhere: a connection that waits for a request has none.
        indirect case body(BodyDecoder)
        /// A body that the app doesn't take, because its response has ended.
        indirect case discarding(BodyDecoder, left: Int)
        /// All of it.
        case whole
        /// Nothing more is taken.
        case over
    }

    /// What of the present response has gone.
    enum Output: Sendable {
        /// No response is due.
        case idle
        /// A request waits for its response.
        case due
        /// The head, and perhaps a part of the body.
        case body(ResponseFraming)
    }

    /// What the response has to know of its request.
    struct Facts: Sendable {
        var isHead = false
        /// Whether its version is 1.1 at least.
        var knowsHTTP11 = true
        var keepsAlive = true
        var awaitsContinue = false
    }

    private let shared: SharedSettings
    private var parser: RequestHeadParser
    // In an order that leaves no gaps, small fields behind the one whose size is odd: each connection has them.
    var input = Input.head
    /// How fast the body of the present request comes.
    private var pace = PausablePace.none
    /// When the head or the request must have come.
    private var headDeadline: Instant
    var output = Output.idle
    var facts = Facts()
    /// Whether the session is over in the middle of a body that nobody wanted: the client may still be sending it, and a
    /// connection that is closed with bytes unread takes the response along.
    package private(set) var leavesBody = false
    /// Whether another request may follow the present one, as far as is known.
    var persists = true

    /// Makes a session for a connection that was just accepted; its first request has `headTime` to come.
    package init(_ settings: Settings = Settings(), now: Instant) {
        self.init(SharedSettings(settings), now: now)
    }

    /// Makes a session for a connection that was just accepted, as one of many.
    package init(_ settings: SharedSettings, now: Instant) {
        shared = settings
        parser = RequestHeadParser(limits: settings.values.limits)
        headDeadline = now.advanced(by: settings.values.limits.headTime)
    }

    var settings: Settings { shared.values }

    // MARK: Input

    /// Whether a request waits for its response, or is being answered.
    @usableFromInline package var isAnswering: Bool {
        if case .idle = output { false } else { true }
    }

    /// Whether the session takes input now; what comes otherwise is to be kept, or not to be received.
    @usableFromInline package var takesInput: Bool {
        switch input {
        case .head, .body, .discarding: true
        case .whole, .over: false
        }
    }

    /// Whether nothing more is taken, and nothing more may be sent once the present response has ended.
    @usableFromInline package var isOver: Bool {
        if case .over = input { true } else { false }
    }

    /// Whether it is over and no response is due: the connection is to be ended.
    @usableFromInline package var hasEnded: Bool { isOver && !isAnswering }

    /// Whether a request has begun and its head isn't complete.
    @usableFromInline package var isMidHead: Bool {
        if case .head = input { parser.isMidHead } else { false }
    }

    /// Takes input up to the end of the next event.
    ///
    /// - Parameters:
    ///   - bytes: what is at hand; may be empty.
    ///   - position: where to begin; left behind the last byte taken.
    ///   - now: the time.
    ///   - last: the head of an earlier request of a session by the same settings: what is the same, the whole head or all of its
    ///     fields, isn't read anew. Default: none.
    /// - Returns: the event, or nil when more input is needed or a response is awaited first.
    package mutating func next(
        _ bytes: Span<UInt8>,
        from position: inout Int,
        now: Instant,
        last: RequestHeadText? = nil
    ) -> Event? {
        do throws(HTTPProtocolError) {
            switch input {
            case .head: return try takeHead(bytes, from: &position, now, last)
            case .body(let decoder): return try takeBody(decoder, bytes, from: &position, now)
            case .discarding(let decoder, let left):
                guard discard(decoder, left, bytes, from: &position, now) else { return nil }
                return try takeHead(bytes, from: &position, now, last)
            case .whole, .over: return nil
            }
        } catch {
            return fail(error)
        }
    }

    private mutating func takeHead(
        _ bytes: Span<UInt8>,
        from position: inout Int,
        _ now: Instant,
        _ last: RequestHeadText?
    ) throws(HTTPProtocolError) -> Event? {
        guard position < bytes.count else { return nil }
        let wasMidHead = parser.isMidHead
        guard let head = try parser.parse(bytes, from: &position, last: last) else {
            if !wasMidHead && parser.isMidHead { headDeadline = now.advanced(by: settings.limits.headTime) }
            return nil
        }
        facts = Facts(
            isHead: head.method == .head,
            knowsHTTP11: head.version >= .http11,
            keepsAlive: head.keepsAlive,
            awaitsContinue: head.expectsContinue && head.framing != .none
        )
        if !head.keepsAlive { persists = false }
        output = .due
        if case .none = head.framing { input = .whole } else { try expectBody(head.framing, settings.limits, now) }
        return .request(head)
    }

    /// The body isn't judged by its length before the app has had its say: the limit may be the route's.
    private mutating func expectBody(
        _ framing: BodyFraming,
        _ limits: HTTPLimits,
        _ now: Instant
    ) throws(HTTPProtocolError) {
        var limits = limits
        limits.bodySize = .unlimited
        input = .body(try BodyDecoder(framing, limits: limits))
        pace = .running(BodyPace(limits: limits, now: now))
    }

    /// Bounds the body of the present request, before anything of it was taken.
    ///
    /// - Parameters:
    ///   - head: the request's.
    ///   - limits: of these, `bodySize`, and `headSize` and `headFields` for what frames its chunks.
    ///   - now: the time.
    /// - Returns: a violation when the body is announced to be longer.
    package mutating func limitBody(of head: RequestHead, to limits: HTTPLimits, now: Instant) -> Event? {
        guard case .body = input else { return nil }
        do throws(HTTPProtocolError) {
            input = .body(try BodyDecoder(head.framing, limits: limits))
            pace = .running(BodyPace(limits: limits, now: now))
            return nil
        } catch {
            return fail(error)
        }
    }

    private mutating func takeBody(
        _ decoder: BodyDecoder,
        _ bytes: Span<UInt8>,
        from position: inout Int,
        _ now: Instant
    ) throws(HTTPProtocolError) -> Event? {
        var decoder = decoder
        // The decoder is then the only owner of an unfinished line.
        input = .over
        let start = position
        let piece = try decoder.next(bytes, from: &position)
        pace.received(position - start, now: now)
        // The client has begun to send without `100 Continue`.
        if position > start { facts.awaitsContinue = false }
        switch piece {
        case .end(let trailers):
            input = .whole
            pace = .none
            return .end(trailers: trailers)
        case .data(let range):
            input = .body(decoder)
            return .body(range)
        case nil:
            input = .body(decoder)
            return nil
        }
    }

    /// Reads past what of a body nobody wanted.
    ///
    /// - Returns: whether its end has been reached. What is wrong with it is answered by nobody: the response has gone.
    private mutating func discard(
        _ decoder: BodyDecoder,
        _ left: Int,
        _ bytes: Span<UInt8>,
        from position: inout Int,
        _ now: Instant
    ) -> Bool {
        var decoder = decoder
        input = .over
        leavesBody = true
        let start = position
        do throws(HTTPProtocolError) {
            while let piece = try decoder.next(bytes, from: &position) {
                // Also of a body that came whole: where it is cut must make no difference.
                if position - start > left { return false }
                guard case .end = piece else { continue }
                leavesBody = false
                expectRequest(now)
                return true
            }
        } catch {
            return false
        }
        let taken = position - start
        pace.received(taken, now: now)
        if taken < left && position == bytes.count {
            input = .discarding(decoder, left: left - taken)
            leavesBody = false
        }
        return false
    }

    /// Takes note that the client has ended its side of the connection, once all that came before is taken.
    ///
    /// It still waits for the present response, which is the last one (RFC 9112 section 9.6).
    ///
    /// - Returns: a violation when a body was cut short.
    package mutating func inputEnded() -> Event? {
        defer { persists = false }
        guard case .body(var decoder) = input else {
            if case .whole = input { return nil }
            input = .over
            return nil
        }
        do throws(HTTPProtocolError) {
            try decoder.finish()
            return nil
        } catch {
            return fail(error)
        }
    }

    mutating func fail(_ error: HTTPProtocolError) -> Event {
        input = .over
        persists = false
        pace = .none
        if case .idle = output {
            facts = Facts(keepsAlive: false)
            output = .due
        }
        return .violation(error)
    }

    /// Takes no further request: the connection ends after the present response, or at once where none is due.
    package mutating func shutDown() {
        persists = false
        if case .idle = output, !isMidHead { input = .over }
    }

    /// How a connection goes on, asked after all that was done.
    @usableFromInline
    package struct Standing: Sendable, Hashable {
        /// As in ``HTTPServerSession/hasEnded``.
        package let hasEnded: Bool
        /// As in ``HTTPServerSession/leavesBody``.
        package let leavesBody: Bool
        /// As in ``HTTPServerSession/deadline``.
        package let deadline: Instant?
    }

    /// How the connection goes on: ``hasEnded``, ``leavesBody`` and ``deadline`` at once, as each request asks for them.
    @usableFromInline package var standing: Standing {
        Standing(hasEnded: hasEnded, leavesBody: leavesBody, deadline: deadline)
    }

    // MARK: Time

    /// When ``timeOut(now:)`` is to be asked; nil while nobody waits for the client.
    @usableFromInline package var deadline: Instant? {
        switch input {
        case .head: headDeadline
        case .body, .discarding: pace.deadline
        case .whole, .over: nil
        }
    }

    /// The app doesn't take the body for now, so the client isn't waited for.
    package mutating func pauseBody(now: Instant) {
        pace.pause(now: now)
    }

    /// The app takes the body again; the time in between isn't the client's.
    package mutating func resumeBody(now: Instant) {
        pace.resume(now: now)
    }

    /// Judges a client whose ``deadline`` has passed.
    ///
    /// - Parameter now: the time.
    /// - Returns: a violation, answered with 408, when a request had begun; nil before the deadline, and where the
    ///   connection has only been idle for too long: then ``isOver`` is true.
    package mutating func timeOut(now: Instant) -> Event? {
        guard let deadline, deadline <= now else { return nil }
        switch input {
        case .head where !parser.isMidHead, .discarding:
            input = .over
            persists = false
            return nil
        default:
            return fail(HTTPProtocolError(.timeout, "The request did not arrive in time."))
        }
    }

    /// The present request and its response are done.
    mutating func expectRequest(_ now: Instant) {
        input = .head
        pace = .none
        headDeadline = now.advanced(nanoseconds: shared.idleTime)
    }
}
