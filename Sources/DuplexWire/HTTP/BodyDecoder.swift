// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Takes a message's body out of input that arrives in pieces of any size (RFC 9112 sections 6 and 7).
public struct BodyDecoder: Sendable {
    private enum State {
        case counting(rest: Int)
        case chunked(ChunkedDecoder)
        case untilClose(room: Int)
        case complete
        case failed(HTTPError)
    }

    private var state: State
    private let bound: Int

    /// Makes a decoder for one body.
    ///
    /// - Parameters:
    ///   - framing: How the body's end is found.
    ///   - limits: Of these, `bodySize` bounds the body, and `headSize` and `headFields` what frames its chunks.
    /// - Throws: ``HTTPError`` with the status 413 if the body is announced to be longer than the limit. Nothing has
    ///   been read then, so a server needn't answer `100 Continue`.
    public init(_ framing: BodyFraming, limits: Limits = .internet) throws(HTTPError) {
        bound = limits.bodySize.bytes
        switch framing {
        case .none, .length(0): state = .complete
        case .length(let length) where length > bound: throw .bodyTooLarge(bound)
        case .length(let length): state = .counting(rest: max(0, length))
        case .chunked: state = .chunked(ChunkedDecoder(limits: limits))
        case .untilClose: state = .untilClose(room: bound)
        }
    }

    /// Whether the body's end has been reached.
    public var isComplete: Bool {
        if case .complete = state { true } else { false }
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
    /// - Throws: ``HTTPError`` if the chunks are malformed (400) or the body is longer than the limit (413).
    public mutating func decode(
        _ input: Span<UInt8>,
        from position: inout Int,
        into body: inout [UInt8]
    ) throws(HTTPError) -> Bool {
        do throws(HTTPError) {
            try advance(input, from: &position, into: &body)
        } catch {
            state = .failed(error)
            throw error
        }
        return isComplete
    }

    /// Takes note that the stream has ended.
    ///
    /// - Throws: ``HTTPError`` unless the body is complete or lasts until the connection closes.
    public mutating func finish() throws(HTTPError) {
        switch state {
        case .complete: break
        case .untilClose: state = .complete
        case .failed(let error): throw error
        case .counting(let rest):
            throw HTTPError(.truncated, "the stream ended \(rest) bytes before the body did")
        case .chunked: throw HTTPError(.truncated, "the stream ended before the last chunk")
        }
    }

    private mutating func advance(
        _ input: Span<UInt8>,
        from position: inout Int,
        into body: inout [UInt8]
    ) throws(HTTPError) {
        switch state {
        case .complete: break
        case .failed(let error): throw error
        case .counting(let rest):
            let count = input.copy(upTo: rest, from: &position, to: &body)
            state = count == rest ? .complete : .counting(rest: rest - count)
        case .untilClose(let room):
            let count = input.copy(upTo: room, from: &position, to: &body)
            state = .untilClose(room: room - count)
            if position < input.count { throw .bodyTooLarge(bound) }
        case .chunked(var chunks):
            // The chunk decoder is then the only owner of its unfinished line, and appends to it in place.
            state = .complete
            let isComplete = try chunks.decode(input, from: &position, into: &body)
            state = isComplete ? .complete : .chunked(chunks)
        }
    }
}

extension HTTPError {
    /// A body that has, or is said to have, more bytes than that.
    static func bodyTooLarge(_ bound: Int) -> HTTPError {
        HTTPError(.bodyTooLarge, "the body is longer than \(bound) bytes")
    }
}

extension Span<UInt8> {
    /// Appends at most that many of the bytes from the position on, moves the position, and returns how many there
    /// were.
    func copy(upTo bound: Int, from position: inout Int, to copy: inout [UInt8]) -> Int {
        let taken = Swift.min(bound, count - position)
        Grammar.append(extracting(position..<(position + taken)), to: &copy)
        position += taken
        return taken
    }
}
