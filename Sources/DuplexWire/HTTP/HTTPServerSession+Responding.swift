// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

// Commands to bytes: what a server says, appended to an output that the caller sends.

extension HTTPServerSession {
    /// What happens to the connection after a response.
    package enum Outcome: Sendable, Hashable {
        /// The next request may come.
        case next
        /// Nothing more is sent: the connection is to be ended in order.
        case close
        /// The response has less than it had promised: the connection has to be cut, so that the client doesn't take it
        /// for whole.
        case cut
    }

    /// Requests the body: a client that waits for `100 Continue` gets it (RFC 9110 section 10.1.1).
    ///
    /// Sent once, and never after the head of the response.
    package mutating func wantBody(into bytes: inout [UInt8]) {
        guard facts.awaitsContinue, case .due = output, case .body = input else { return }
        facts.awaitsContinue = false
        ResponseHead(status: .continue).write(to: &bytes)
    }

    /// Writes an interim response, such as 103 (RFC 8297).
    ///
    /// Left out for HTTP/1.0, which knows none (RFC 9110 section 15.2).
    ///
    /// - Parameters:
    ///   - status: 1xx, except 101, which is ``switchProtocols(_:date:into:)``.
    ///   - headers: its fields; those that concern framing are left out.
    ///   - bytes: what it is appended to.
    /// - Throws: ``HTTPProtocolError`` with ``HTTPProtocolError/Code/wrongOrder`` after the head of the response, or when the status is
    ///   no interim one.
    package mutating func writeInterim(
        _ status: HTTPResponse.Status,
        _ headers: HTTPFields,
        into bytes: inout [UInt8]
    ) throws(HTTPProtocolError) {
        guard case .due = output, status.kind == .informational, status != .switchingProtocols else {
            throw HTTPProtocolError(
                .wrongOrder,
                "\(status.code) can't be sent here: an interim response comes before the final one"
            )
        }
        guard facts.knowsHTTP11 else { return }
        if status == .continue { facts.awaitsContinue = false }
        ResponseHead.appendStatusLine(status, to: &bytes)
        for field in headers where !FramingFields.contains(field.name) { HeadWriter.append(field, to: &bytes) }
        HeadWriter.appendLineEnd(to: &bytes)
    }

    /// Writes the head of the response.
    ///
    /// What concerns framing and the connection is decided here; such fields of the app's are left out. A
    /// Content-Length of the app's counts where the length is unknown: the body is then held to it.
    ///
    /// - Parameters:
    ///   - start: its first lines; the status is a final one, 200 to 999. A Date among the fields takes the place of
    ///     its.
    ///   - headers: the app's, apart from Content-Type.
    ///   - length: of the body.
    ///   - bytes: what the head is appended to.
    /// - Returns: whether a body goes out; where it doesn't, pieces are taken and dropped.
    /// - Throws: ``HTTPProtocolError`` with ``HTTPProtocolError/Code/wrongOrder`` when no response is due.
    @discardableResult
    package mutating func writeHead(
        _ start: ResponseStart,
        _ headers: HTTPFields = HTTPFields(),
        length: ResponseLength,
        into bytes: inout [UInt8]
    ) throws(HTTPProtocolError) -> Bool {
        try writeHead(start, nil, headers, length: length, into: &bytes)
    }

    /// The same with fields whose lines are made, in front of the others.
    @discardableResult
    package mutating func writeHead(
        _ start: ResponseStart,
        _ prepared: PreparedFields?,
        _ headers: HTTPFields = HTTPFields(),
        length: ResponseLength,
        into bytes: inout [UInt8]
    ) throws(HTTPProtocolError) -> Bool {
        let status = start.status
        guard case .due = output, status.code >= 200 else {
            throw HTTPProtocolError(
                .wrongOrder,
                "the response \(status.code) can't begin here: none is due, or it isn't a final one"
            )
        }
        let length = resolve(length, headers)
        let framing = framing(status, length)
        decidePersistence(framing, isWhole: length != .unknown)
        bytes.append(start.lines(beside: headers).span.raw)
        if let lines = prepared?.lines { bytes.append(lines.span.raw) }
        for field in headers where !FramingFields.contains(field.name) { HeadWriter.append(field, to: &bytes) }
        appendFraming(status, headers, length, framing, to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
        output = .body(framing)
        return framing != .none
    }

    private func resolve(_ length: ResponseLength, _ headers: HTTPFields) -> ResponseLength {
        guard length == .unknown, headers.contains(.contentLength) else { return length }
        return FramingFields.length(in: headers).map { .bytes($0) } ?? .unknown
    }

    /// RFC 9112 section 6.3.
    private func framing(_ status: HTTPResponse.Status, _ length: ResponseLength) -> ResponseFraming {
        if facts.isHead || status == .noContent || status == .notModified { return .none }
        return switch length {
        case .bytes(let count): .length(left: count)
        case .unknown: facts.knowsHTTP11 ? .chunked : .untilClose
        }
    }

    /// Whether the connection goes on is said in the head, so it is decided there (RFC 9112 section 9.6).
    private mutating func decidePersistence(_ framing: ResponseFraming, isWhole: Bool) {
        if framing == .untilClose { persists = false }
        guard case .body(let decoder) = input else { return }
        // A client that still waits for 100 may send the body or not: where the next request begins can't be known.
        if facts.awaitsContinue { persists = false }
        // An app that answers at once doesn't take the rest. One that streams may.
        if isWhole, let left = decoder.announcedRest, left > settings.discardSize.bytes { persists = false }
    }

    private func appendFraming(
        _ status: HTTPResponse.Status,
        _ headers: HTTPFields,
        _ length: ResponseLength,
        _ framing: ResponseFraming,
        to bytes: inout [UInt8]
    ) {
        // RFC 9110 section 8.6: 204 has none, 304 needs none; in answer to HEAD it is that of the body that isn't sent.
        if case .bytes(let count) = length, status != .noContent, status != .notModified {
            HeadWriter.append("Content-Length: ", number: count, to: &bytes)
        } else if framing == .chunked {
            HeadWriter.append("Transfer-Encoding", "chunked", to: &bytes)
        }
        // RFC 9110 section 7.8: whoever sends Upgrade names it in Connection.
        let upgrades = !headers.isEmpty && headers.contains(.upgrade)
        if !persists {
            HeadWriter.append("Connection", upgrades ? "close, Upgrade" : "close", to: &bytes)
        } else if !facts.knowsHTTP11 {
            // A client of HTTP/1.0 takes it that the connection ends otherwise (RFC 9112 appendix C.2.2).
            HeadWriter.append("Connection", "keep-alive", to: &bytes)
        } else if upgrades {
            HeadWriter.append("Connection", "Upgrade", to: &bytes)
        }
    }

    // MARK: The body

    /// Whether the body of the present response goes out.
    package var sendsBody: Bool {
        if case .body(let framing) = output { framing != .none } else { false }
    }

    /// Frames the next piece of the body: what goes before its bytes, and says how many of them go out.
    ///
    /// The caller sends the bytes after what was appended, and calls ``endPiece(into:)``. So a file or a large array
    /// needs no copy.
    ///
    /// - Parameters:
    ///   - count: how many bytes the piece has.
    ///   - bytes: what a chunk's size is appended to.
    /// - Returns: whether the bytes are to be sent.
    /// - Throws: ``HTTPProtocolError`` with ``HTTPProtocolError/Code/wrongLength`` when there are more than was said in the head, and
    ///   ``HTTPProtocolError/Code/wrongOrder`` where no body is being sent.
    package mutating func beginPiece(_ count: Int, into bytes: inout [UInt8]) throws(HTTPProtocolError) -> Bool {
        guard case .body(let framing) = output else {
            throw HTTPProtocolError(.wrongOrder, "no response is being sent")
        }
        guard count > 0 else { return false }
        switch framing {
        case .none: return false
        case .untilClose: return true
        case .chunked:
            HeadWriter.append(hexadecimal: count, to: &bytes)
            HeadWriter.appendLineEnd(to: &bytes)
            return true
        case .length(let left):
            guard count <= left else {
                throw HTTPProtocolError(.wrongLength, "the body has \(count - left) bytes more than its Content-Length")
            }
            output = .body(.length(left: left - count))
            return true
        }
    }

    /// Appends what goes after the bytes of a piece.
    package func endPiece(into bytes: inout [UInt8]) {
        if case .body(.chunked) = output { HeadWriter.appendLineEnd(to: &bytes) }
    }

    /// Writes a piece of the body; see ``beginPiece(_:into:)``.
    package mutating func writePiece(_ piece: RawSpan, into bytes: inout [UInt8]) throws(HTTPProtocolError) {
        guard try beginPiece(piece.byteCount, into: &bytes) else { return }
        bytes.append(piece)
        endPiece(into: &bytes)
    }

    /// Writes a response whose body is at hand; see ``writeHead(_:_:length:into:)`` and
    /// ``endResponse(trailers:now:into:)``.
    ///
    /// - Returns: what happens to the connection.
    /// - Throws: as the former does.
    package mutating func writeResponse(
        _ start: ResponseStart,
        _ headers: HTTPFields = HTTPFields(),
        body: RawSpan,
        trailers: HTTPFields = HTTPFields(),
        now: Instant,
        into bytes: inout [UInt8]
    ) throws(HTTPProtocolError) -> Outcome {
        try writeResponse(start, nil, headers, body: body, trailers: trailers, now: now, into: &bytes)
    }

    /// The same with fields whose lines are made, in front of the others.
    package mutating func writeResponse(
        _ start: ResponseStart,
        _ prepared: PreparedFields?,
        _ headers: HTTPFields = HTTPFields(),
        body: RawSpan,
        trailers: HTTPFields = HTTPFields(),
        now: Instant,
        into bytes: inout [UInt8]
    ) throws(HTTPProtocolError) -> Outcome {
        let length = ResponseLength.bytes(body.byteCount)
        try writeHead(start, prepared, headers, length: length, into: &bytes)
        try writePiece(body, into: &bytes)
        return endResponse(trailers: trailers, now: now, into: &bytes)
    }

    /// Ends the response.
    ///
    /// - Parameters:
    ///   - trailers: sent after the last chunk; left out where the body doesn't go in chunks, and so are those that
    ///     concern framing (RFC 9110 section 6.5.1).
    ///   - now: the time.
    ///   - bytes: what the last chunk is appended to.
    /// - Returns: what happens to the connection.
    package mutating func endResponse(
        trailers: HTTPFields = [:],
        now: Instant,
        into bytes: inout [UInt8]
    ) -> Outcome {
        guard case .body(let framing) = output else { return persists ? .next : .close }
        output = .idle
        if case .length(let left) = framing, left > 0 {
            input = .over
            persists = false
            return .cut
        }
        if framing == .chunked { appendLastChunk(trailers, to: &bytes) }
        return settle(now)
    }

    private func appendLastChunk(_ trailers: HTTPFields, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "0\r\n".utf8)
        for field in trailers where !FramingFields.contains(field.name) && field.name != .trailer {
            HeadWriter.append(field, to: &bytes)
        }
        HeadWriter.appendLineEnd(to: &bytes)
    }

    /// Goes on with the next request, or reads past what of the last one nobody wanted.
    private mutating func settle(_ now: Instant) -> Outcome {
        guard persists else {
            input = .over
            return .close
        }
        switch input {
        case .whole: expectRequest(now)
        case .body(let decoder):
            let bound = settings.discardSize.bytes
            if let left = decoder.announcedRest, left > bound {
                input = .over
                persists = false
                return .close
            }
            resumeBody(now: now)
            input = .discarding(decoder, left: bound)
        case .head, .discarding, .over: break
        }
        return .next
    }

    /// Gives the response up in the middle: the connection is to be cut.
    package mutating func abandonResponse() {
        output = .idle
        input = .over
        persists = false
    }

    /// Writes 101 and ends HTTP on this connection: what follows is another protocol's (RFC 9110 section 15.2.2).
    ///
    /// - Parameters:
    ///   - head: the 101, with all of its fields.
    ///   - date: the value of Date, as in ``ResponseStart``.
    ///   - bytes: what it is appended to.
    /// - Throws: ``HTTPProtocolError`` with ``HTTPProtocolError/Code/wrongOrder`` unless a whole request waits for its response.
    package mutating func switchProtocols(
        _ head: ResponseHead,
        date: String? = nil,
        into bytes: inout [UInt8]
    ) throws(HTTPProtocolError) {
        guard case .due = output, case .whole = input, head.status == .switchingProtocols else {
            throw HTTPProtocolError(.wrongOrder, "101 can't be sent here")
        }
        head.write(to: &bytes, date: date)
        output = .idle
        input = .over
        persists = false
    }
}
