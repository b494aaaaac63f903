// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexDeflate
import DuplexSockets
import DuplexWire
import HTTPTypes

/// What an exchange asks of the connection that it came by; all on the loop.
///
/// An exchange knows no version of HTTP: this is the seam below it.
protocol ExchangeCarrier: AnyObject {
    /// The app asks for the body: a client that waits for word may send it.
    func wantBody()
    /// The app has taken what there was of the body, or has enough for now.
    func setReadingBody(_ isReading: Bool)
    /// Sends an interim response; throws once the final one has begun.
    func writeInterim(_ status: HTTPResponse.Status, _ headers: HTTPFields) throws(HTTPProtocolError)
    /// Sends a piece of the response's body.
    ///
    /// - Returns: whether it goes out: an empty one doesn't.
    func writePiece(_ piece: [UInt8]) throws(HTTPProtocolError) -> Bool
    /// Whether so much waits for the client that the writer should, too, or nothing can be sent to it any more.
    var isBehind: Bool { get }
    /// The response has no end of its own: its client is to be noticed when it has vanished.
    func followResponse()
    /// Ends the response whose pieces were pushed.
    func finishResponse()
    /// Ends the connection at once: the client is to see that the response isn't whole.
    func abandonResponse(_ error: any Error)
}

/// Who pushes the pieces of a response that has no end of its own, such as an event stream; called on the loop.
protocol ExchangeFollower: AnyObject, Sendable {
    /// How many pieces were dropped because the client was behind.
    var droppedPieces: Int { get }
    /// The client has caught up: it may be sent more.
    func caughtUp()
    /// The client has ended its side; it may have closed the connection, which only a write finds out.
    func clientEndedInput()
    /// The server wants no more: the response is to end soon.
    func isToEnd()
    /// The response has ended, or nothing of it can be sent any more.
    func ended()
}

/// One request and its response while a task handles them: the body on its way in, the pieces of the response on theirs out.
///
/// An actor on its connection's loop, so that tasks anywhere may read and write, and those on the loop do so without a hop.
actor Exchange {
    nonisolated let loop: EventLoop
    /// Nil after the end: a request that the app keeps doesn't keep its connection, and with that the server.
    private var carrier: LoopBound<any ExchangeCarrier>?

    private var pieces: Deque<[UInt8]> = []
    private var pieceBytes = 0
    private var isReading = true
    private var bodyEnd: BodyEnd?
    private var reader: Waiter<[UInt8]?>?
    private(set) var requestTrailers: HTTPFields = [:]
    /// Takes the codings of the body off, where it has any.
    private var inflater: ContentInflater?
    /// How much has been inflated without a wait.
    private var inflatedInTurn = 0

    private var writers: Deque<Waiter<Void>> = []
    private(set) var trailers: HTTPFields = [:]
    private var follower: (any ExchangeFollower)?
    /// The coding that the response is put into, where it is.
    private var coding: OutgoingCoding?
    /// Why the app can't go on; nil while it can.
    private var failure: (any Error)?
    private var nextID: UInt64 = 0

    private enum BodyEnd {
        case complete
        case failed(HTTPProtocolError)
    }

    /// How much of a body waits for the app before reading from the client stops.
    private static let bodyBound = 64 * 1_024
    /// How much is inflated before others on the loop have their turn.
    private static let inflatedBound = 1_024 * 1_024

    init(loop: EventLoop, carrier: LoopBound<any ExchangeCarrier>) {
        self.loop = loop
        self.carrier = carrier
    }

    /// The loop, which runs what is isolated to this actor.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    // MARK: The request's body, as the connection sees it

    /// Takes a piece in; the caller bounds what comes while nobody reads by ``isFull``.
    func append(_ piece: [UInt8]) {
        if let reader {
            self.reader = nil
            reader.resume(returning: piece)
        } else {
            pieces.append(piece)
            pieceBytes += piece.count
            pauseIfFull()
        }
    }

    /// The body has ended.
    func finishBody(_ trailers: HTTPFields) {
        requestTrailers = trailers
        endBody(.complete)
    }

    /// The body doesn't come whole.
    func failBody(_ error: HTTPProtocolError) {
        endBody(.failed(error))
    }

    private func endBody(_ end: BodyEnd) {
        guard bodyEnd == nil else { return }
        bodyEnd = end
        guard let reader else { return }
        self.reader = nil
        switch end {
        case .complete: reader.resume(returning: nil)
        case .failed(let error): reader.resume(throwing: error)
        }
    }

    private func pauseIfFull() {
        guard isReading, pieceBytes >= Self.bodyBound else { return }
        isReading = false
        carrier?.value.setReadingBody(false)
    }

    // MARK: The request's body, as the app sees it

    /// Has the codings of the body taken off; before anything of it is asked for.
    func takeOff(_ codings: [ContentCoding], upTo limit: ByteCount) {
        inflater = ContentInflater(codings, upTo: limit, pool: loop.core.shared(ContentPool.init))
    }

    /// The next piece, or nil at the end.
    func nextPiece() async throws -> [UInt8]? {
        guard let inflater else { return try await nextPieceAsSent() }
        while true {
            if let piece = try inflater.next() {
                inflatedInTurn += piece.count
                if inflatedInTurn >= Self.inflatedBound {
                    inflatedInTurn = 0
                    await Task.yield()
                }
                return piece
            }
            guard let coded = try await nextPieceAsSent() else {
                try inflater.finish()
                return nil
            }
            inflater.take(coded)
        }
    }

    private func nextPieceAsSent() async throws -> [UInt8]? {
        if let piece = pieces.popFirst() { return taken(piece) }
        switch bodyEnd {
        case .complete: return nil
        case .failed(let error): throw error
        case nil: break
        }
        let id = nextWaiterID()
        let exchange = self
        return try await waitOnLoop(id: id) { (waiter: Waiter<[UInt8]?>) in
            wait(waiter)
        } onCancel: {
            exchange.loop.execute { _ in exchange.assumeIsolated { $0.cancelReader(id) } }
        }
    }

    private func wait(_ waiter: Waiter<[UInt8]?>) {
        if let failure {
            waiter.resume(throwing: failure)
        } else if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
        } else if reader != nil {
            waiter.resume(
                throwing: HTTPProtocolError(.wrongOrder, "the body of a request is read by one task at a time")
            )
        } else {
            reader = waiter
            carrier?.value.wantBody()
        }
    }

    private func cancelReader(_ id: UInt64) {
        guard reader?.id == id, let reader else { return }
        self.reader = nil
        reader.resume(throwing: CancellationError())
    }

    private func taken(_ piece: [UInt8]) -> [UInt8] {
        pieceBytes -= piece.count
        // Behind the end of the body, or of the exchange, the connection reads for others.
        if !isReading && pieceBytes < Self.bodyBound / 2 && bodyEnd == nil && failure == nil {
            isReading = true
            carrier?.value.setReadingBody(true)
        }
        return piece
    }

    private func nextWaiterID() -> UInt64 {
        nextID += 1
        return nextID
    }

    // MARK: The response

    /// Sends an interim response.
    func sendInterim(_ status: HTTPResponse.Status, _ headers: HTTPFields) throws {
        if let failure { throw failure }
        try carrier?.value.writeInterim(status, headers)
    }

    func setTrailers(_ headers: HTTPFields) {
        trailers = headers
    }

    /// Has the pieces that follow put into a coding.
    ///
    /// - Throws: `HTTPProtocolError` without memory for it.
    func beginCoding(_ body: CodedBody) throws {
        coding = OutgoingCoding(body, pool: loop.core.shared(ContentPool.init))
        if coding == nil { throw HTTPProtocolError(.wrongLength, "there is no memory to compress the body") }
    }

    /// Sends what is left of the coding, behind the last piece.
    func endCoding() async throws {
        guard let coding else { return }
        self.coding = nil
        try await write(try coding.end())
    }

    /// Sends a piece of the response, and waits while the client is behind.
    ///
    /// - Parameters:
    ///   - piece: the bytes.
    ///   - flushes: whether all of it goes out now, where it is put into a coding.
    /// - Throws: `CancellationError` when the client has gone, `HTTPProtocolError` beyond the length that was said.
    func write(_ piece: [UInt8], flushes: Bool = true) async throws {
        if let failure { throw failure }
        guard let coding else { return try await writeAsIs(piece) }
        try await writeAsIs(try coding.coded(piece, flushes: flushes))
        if coding.hasHadTurn { await Task.yield() }
    }

    private func writeAsIs(_ piece: [UInt8]) async throws {
        let goesOut = try carrier?.value.writePiece(piece) ?? false
        if let failure { throw failure }
        if !goesOut {
            // No client ever holds this writer back, who may have no end.
            try Task.checkCancellation()
            await Task.yield()
        } else if isBehind {
            try await waitForClient()
        }
    }

    /// Waits until what is on its way to the client has become little.
    func waitForClient() async throws {
        let id = nextWaiterID()
        let exchange = self
        try await waitOnLoop(id: id) { (waiter: Waiter<Void>) in
            if let failure {
                waiter.resume(throwing: failure)
            } else if Task.isCancelled {
                waiter.resume(throwing: CancellationError())
            } else {
                writers.append(waiter)
            }
        } onCancel: {
            exchange.loop.execute { _ in exchange.assumeIsolated { $0.cancelWriter(id) } }
        }
    }

    private func cancelWriter(_ id: UInt64) {
        guard let index = writers.firstIndex(where: { $0.id == id }) else { return }
        writers.remove(at: index).resume(throwing: CancellationError())
    }

    /// The client has caught up.
    func drained() {
        while let writer = writers.popFirst() { writer.resume(returning: ()) }
        follower?.caughtUp()
    }

    // MARK: A response that is pushed

    /// Whether the response has no end of its own.
    var isFollowed: Bool { follower != nil }
    /// How many pieces of it were dropped because the client was behind; `nil` where nobody pushes them.
    var droppedPieces: Int? { follower?.droppedPieces }
    /// Whether whoever sends should wait, or nothing can be sent any more.
    var isBehind: Bool { carrier?.value.isBehind ?? true }

    /// Adds a follower for the outcome of the response.
    func follow(_ follower: any ExchangeFollower) {
        if failure != nil { return follower.ended() }
        self.follower = follower
        carrier?.value.followResponse()
    }

    /// Sends a piece, and doesn't wait.
    ///
    /// - Returns: whether no more should be sent before the follower is notified that the client has caught up.
    func push(_ piece: [UInt8]) throws -> Bool {
        if let failure { throw failure }
        _ = try carrier?.value.writePiece(piece)
        return isBehind
    }

    /// The client has ended its side of the connection.
    func clientEndedInput() {
        follower?.clientEndedInput()
    }

    /// Asks for the end of the response.
    func askToEnd() {
        follower?.isToEnd()
    }

    /// Ends a response that no task makes.
    func finish() {
        carrier?.value.finishResponse()
    }

    /// Gives the client up.
    func abandon(_ error: any Error) {
        carrier?.value.abandonResponse(error)
    }

    /// The client has gone, or the response has ended: whoever still reads or writes can't go on.
    func end(_ error: any Error) {
        guard failure == nil else { return }
        failure = error
        carrier = nil
        if let reader {
            self.reader = nil
            reader.resume(throwing: error)
        }
        while let writer = writers.popFirst() { writer.resume(throwing: error) }
        let follower = follower
        self.follower = nil
        follower?.ended()
    }
}
