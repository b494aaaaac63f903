// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// Reads responses out of bytes that come in pieces of any size: heads, pieces of bodies and trailers, as they are asked for.
struct ResponseReader {
    private enum Stage {
        /// Before a head, or within it.
        case head
        case body(BodyDecoder)
    }

    private var stage = Stage.head
    private var parser = ResponseHeadParser(limits: .unlimited)
    private var input: [UInt8] = []
    /// The fields behind the last body.
    private(set) var trailers: HTTPFields = [:]

    /// Whether the head of a response has come and its body hasn't ended.
    var isMidBody: Bool {
        if case .body = stage { true } else { false }
    }

    /// Takes bytes in.
    mutating func append(_ bytes: [UInt8]) {
        input += bytes
    }

    /// What came and belongs to no response yet.
    mutating func takeRest() -> [UInt8] {
        defer { input = [] }
        return input
    }

    /// Takes the next head.
    ///
    /// - Parameter method: the method of the request that it answers.
    /// - Returns: the head; `nil` when more bytes are needed for it.
    /// - Throws: `HTTPError` when it breaks the rules.
    mutating func nextHead(answering method: HTTPRequest.Method) throws(HTTPError) -> ResponseHead? {
        var position = 0
        let bytes = input
        let head = try parser.parse(bytes.span, from: &position)
        input.removeFirst(position)
        guard let head else { return nil }
        trailers = [:]
        // RFC 9110 section 15.2: no body, and the final response is still to come, or another protocol.
        if head.status.kind == .informational { return head }
        stage = .body(try BodyDecoder(head.framing(answering: method), limits: .unlimited, isResponse: true))
        return head
    }

    /// What comes next of a body.
    enum Piece: Equatable {
        case bytes([UInt8])
        /// The body has ended, or there is none.
        case end
    }

    /// The next piece of the body; `nil` when more bytes are needed for it.
    mutating func nextPiece() throws(HTTPError) -> Piece? {
        guard case .body(var decoder) = stage else { return .end }
        var position = 0
        let bytes = input
        let piece = try decoder.next(bytes.span, from: &position)
        defer { input.removeFirst(position) }
        stage = .body(decoder)
        switch piece {
        case nil: return nil
        case .data(let range): return .bytes(Array(bytes[range]))
        case .end(let fields):
            trailers = fields
            stage = .head
            return .end
        }
    }

    /// Takes note that the stream has ended.
    ///
    /// - Throws: `HTTPError` when a response is cut by that.
    mutating func finish() throws(HTTPError) {
        switch stage {
        case .head:
            if parser.isMidHead { throw HTTPError(.truncated, "the stream ended within the head of a response") }
        case .body(var decoder):
            try decoder.finish()
            stage = .body(decoder)
        }
    }
}
