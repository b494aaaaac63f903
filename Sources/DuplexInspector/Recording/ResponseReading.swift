// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// A response as it comes, of whose body only the length is kept.
struct ResponseReading {
    private(set) var status = 0
    private(set) var size: UInt64 = 0
    private(set) var isDone = false
    private let method: HTTPRequest.Method
    private var parser = ResponseHeadParser()
    private var decoder: BodyDecoder?
    private var input: [UInt8] = []

    init(answering method: HTTPRequest.Method) {
        self.method = method
    }

    /// Takes the next bytes in.
    mutating func take(_ bytes: [UInt8]) throws(HTTPError) {
        input += bytes
        var position = 0
        let bytes = input
        while !isDone {
            let moved = try step(bytes, &position)
            if !moved { break }
        }
        input.removeFirst(position)
    }

    /// One head, or one piece of the body.
    ///
    /// - Returns: whether there was one.
    private mutating func step(_ bytes: [UInt8], _ position: inout Int) throws(HTTPError) -> Bool {
        guard var body = decoder else {
            guard let head = try parser.parse(bytes.span, from: &position) else { return false }
            status = head.status.code
            if head.status.kind == .informational && head.status.code != 101 { return true }
            var limits = HTTPLimits.internet
            limits.bodySize = ReplayClient.bodyBound
            decoder = try BodyDecoder(head.framing(answering: method), limits: limits, isResponse: true)
            isDone = head.status.code == 101
            return true
        }
        let piece = try body.next(bytes.span, from: &position)
        decoder = body
        switch piece {
        case nil: return false
        case .data(let range): size += UInt64(range.count)
        case .end: isDone = true
        }
        return true
    }

    /// Takes note that nothing more comes.
    mutating func finish() throws(HTTPError) {
        guard var body = decoder else {
            throw HTTPError(.truncated, "the server ended the connection without an answer")
        }
        try body.finish()
        isDone = true
    }
}
