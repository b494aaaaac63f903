// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// Takes a message's body out of input that arrives in pieces of any size (RFC 9112 sections 6 and 7).
///
/// A body that is streamed is taken piece by piece with ``next(_:from:)``, which copies nothing; a short one is put
/// together with ``decode(_:from:into:)``.
public struct BodyDecoder: Sendable {
    private enum State {
        case counting(rest: Int)
        case chunked(ChunkedDecoder)
        case untilClose(room: Int)
        /// The end has been reached and not been returned.
        case ending(trailers: HTTPFields)
        case complete
        case failed(HTTPProtocolError)
    }

    private var state: State
    private let bound: Int

    /// Makes a decoder for one body.
    ///
    /// - Parameters:
    ///   - framing: How the body's end is found.
    ///   - limits: Of these, `bodySize` bounds the body, and `headSize` and `headFields` what frames its chunks.
    ///   - isResponse: Whether it is the body of a response: folded trailers are then unfolded, and refused otherwise
    ///     (RFC 9112 section 5.2). Default: false.
    /// - Throws: ``HTTPProtocolError`` with the status 413 if the body is announced to be longer than the limit. Nothing has
    ///   been read then, so a server needn't answer `100 Continue`.
    public init(
        _ framing: BodyFraming,
        limits: HTTPLimits = .internet,
        isResponse: Bool = false
    ) throws(HTTPProtocolError) {
        bound = limits.bodySize.bytes
        switch framing {
        case .none, .length(0): state = .ending(trailers: [:])
        case .length(let length) where length > bound: throw .bodyTooLarge(bound)
        case .length(let length): state = .counting(rest: max(0, length))
        case .chunked: state = .chunked(ChunkedDecoder(limits: limits, unfoldsTrailers: isResponse))
        case .untilClose: state = .untilClose(room: bound)
        }
    }

    /// Whether the body's end has been reached.
    public var isComplete: Bool {
        switch state {
        case .ending, .complete: true
        case .counting, .chunked, .untilClose, .failed: false
        }
    }

    /// How many bytes are still to come, where that was said before; nil where it is known at the end.
    package var announcedRest: Int? {
        switch state {
        case .counting(let rest): rest
        case .ending, .complete: 0
        case .chunked, .untilClose, .failed: nil
        }
    }

    /// Takes input up to the end of the body's next piece, and returns the piece.
    ///
    /// Call it until it returns nil, then again with the next input. What follows the body stays untouched. An error
    /// comes again at each further call.
    ///
    /// - Parameters:
    ///   - input: The piece of the stream at hand; may be empty.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: Bytes of the body by their place in the input, or its end, or nil: when the input has no more of the
    ///   body, and when the end has been returned. All bytes together are never more than the limit.
    /// - Throws: ``HTTPProtocolError`` if the chunks are malformed (400), or the body (413) or its trailers (431) are longer
    ///   than the limit.
    public mutating func next(_ input: Span<UInt8>, from position: inout Int) throws(HTTPProtocolError) -> BodyPiece? {
        do throws(HTTPProtocolError) {
            return try advance(input, from: &position)
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Takes input up to the end of the body, and says whether it has been reached.
    ///
    /// What follows the body stays untouched. An error comes again at each further call.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    ///   - body: What the body's bytes are appended to; never more of them than the limit.
    /// - Returns: Whether the body is complete.
    /// - Throws: ``HTTPProtocolError`` if the chunks are malformed (400) or the body is longer than the limit (413).
    public mutating func decode(
        _ input: Span<UInt8>,
        from position: inout Int,
        into body: inout [UInt8]
    ) throws(HTTPProtocolError) -> Bool {
        while let piece = try next(input, from: &position) {
            if case .data(let range) = piece { Grammar.append(input.extracting(range), to: &body) }
        }
        return isComplete
    }

    /// Takes note that the stream has ended.
    ///
    /// - Throws: ``HTTPProtocolError`` unless the body is complete or lasts until the connection closes.
    public mutating func finish() throws(HTTPProtocolError) {
        switch state {
        case .ending, .complete: break
        case .untilClose: state = .ending(trailers: [:])
        case .failed(let error): throw error
        case .counting(let rest):
            throw HTTPProtocolError(.truncated, "the stream ended \(rest) bytes before the body did")
        case .chunked: throw HTTPProtocolError(.truncated, "the stream ended before the last chunk")
        }
    }

    private mutating func advance(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HTTPProtocolError) -> BodyPiece? {
        switch state {
        case .complete:
            return nil
        case .failed(let error):
            throw error
        case .ending(let trailers):
            state = .complete
            return .end(trailers: trailers)
        case .counting(let rest):
            return count(input, from: &position, rest: rest)
        case .untilClose(let room):
            return try fill(input, from: &position, room: room)
        case .chunked(var chunks):
            // The chunk decoder is then the only owner of its unfinished line, and appends to it in place.
            state = .complete
            let piece = try chunks.next(input, from: &position)
            if case .end = piece { return piece }
            state = .chunked(chunks)
            return piece
        }
    }

    private mutating func count(_ input: Span<UInt8>, from position: inout Int, rest: Int) -> BodyPiece? {
        let range = input.range(upTo: rest, from: &position)
        state = range.count == rest ? .ending(trailers: [:]) : .counting(rest: rest - range.count)
        return range.isEmpty ? nil : .data(range)
    }

    private mutating func fill(
        _ input: Span<UInt8>,
        from position: inout Int,
        room: Int
    ) throws(HTTPProtocolError) -> BodyPiece? {
        if position == input.count { return nil }
        if room == 0 { throw .bodyTooLarge(bound) }
        let range = input.range(upTo: room, from: &position)
        state = .untilClose(room: room - range.count)
        return .data(range)
    }
}

extension HTTPProtocolError {
    /// A body that has, or announces, more bytes than that.
    static func bodyTooLarge(_ bound: Int) -> HTTPProtocolError {
        HTTPProtocolError(.bodyTooLarge, "the body is longer than \(bound) bytes")
    }
}

extension Span<UInt8> {
    /// The place of at most that many of the bytes from the position on, which is moved behind them.
    func range(upTo bound: Int, from position: inout Int) -> Range<Int> {
        let start = position
        position += Swift.min(bound, count - position)
        return start..<position
    }

    /// Appends at most that many of the bytes from the position on, moves the position, and returns how many there
    /// were.
    package func copy(upTo bound: Int, from position: inout Int, to copy: inout [UInt8]) -> Int {
        let range = range(upTo: bound, from: &position)
        Grammar.append(extracting(range), to: &copy)
        return range.count
    }
}

/// The next thing that a message's body has: some of its bytes, or its end.
public enum BodyPiece: Sendable, Hashable {
    /// Bytes of the body, by their place in the input that was handed in; never empty.
    case data(Range<Int>)
    /// The body is complete, with the fields that followed a chunked one (RFC 9112 section 7.1.2).
    ///
    /// Fields that may not come so late are left out (RFC 9110 section 6.5.1). Bodies in another framing have none.
    case end(trailers: HTTPFields)
}
