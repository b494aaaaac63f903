// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport
import HTTPTypes

@testable import DuplexWire

/// Reads what a session has sent as a client does, and compares it with what the app has answered.
struct WireCheck {
    private let answers: [Answer]
    private let output: [UInt8]
    private var position = 0

    init(_ outcome: Outcome) {
        answers = outcome.answers
        output = outcome.output
    }

    mutating func check() {
        for (number, answer) in answers.enumerated() { check(number, answer) }
        // Behind the last response there may be nothing but 100 for a request that isn't answered.
        if position < output.count { require(head().status == .continue, "something follows the last response") }
        require(position == output.count, "bytes follow the last response")
    }

    func run() {
        var copy = self
        copy.check()
    }

    private mutating func check(_ number: Int, _ answer: Answer) {
        var head = head()
        if head.status == .continue { head = self.head() }
        require(head.status == answer.status, "response \(number) has the status \(head.status)")
        require(head.headers[.xNumber] == "\(number)", "response \(number) came as \(head.headers)")
        require(!head.headers.contains(.xEvil), "the app has split a response")
        let codings = head.headers[values: .transferEncoding]
        require(codings.isEmpty || codings == ["chunked"], "the app's coding \(codings) reached the wire")
        require(head.headers[.connection]?.contains("Evil") != true, "the app's Connection reached the wire")
        require(codings.isEmpty || !head.headers.contains(.contentLength), "both framings were sent")
        let (body, trailers) = body(head, answer.method)
        let isBodiless = [.noContent, .notModified].contains(head.status) || answer.method == .head
        require(body == (isBodiless ? [] : answer.body), "response \(number) has the body \(body)")
        require(!trailers.contains(.xEvil) && !trailers.contains(.transferEncoding), "trailers: \(trailers)")
    }

    private mutating func head() -> ResponseHead {
        let bytes = Array(output[position...])
        return Self.head(bytes.span, &position)
    }

    private static func head(_ bytes: Span<UInt8>, _ position: inout Int) -> ResponseHead {
        var parser = ResponseHeadParser()
        var taken = 0
        defer { position += taken }
        do throws(HTTPProtocolError) {
            if let head = try parser.parse(bytes, from: &taken) { return head }
        } catch {
            fatalError("a head can't be read: \(error)")
        }
        fatalError("a head is missing: \(bytes.count) bytes are left")
    }

    private mutating func body(_ head: ResponseHead, _ method: HTTPRequest.Method) -> ([UInt8], HTTPFields) {
        let bytes = Array(output[position...])
        return Self.body(bytes.span, head, method, &position)
    }

    private static func body(
        _ bytes: Span<UInt8>,
        _ head: ResponseHead,
        _ method: HTTPRequest.Method,
        _ position: inout Int
    ) -> ([UInt8], HTTPFields) {
        var body: [UInt8] = []
        var taken = 0
        defer { position += taken }
        do throws(HTTPProtocolError) {
            let framing = try head.framing(answering: method)
            var decoder = try BodyDecoder(framing)
            while let piece = try decoder.next(bytes, from: &taken) {
                switch piece {
                case .data(let range): for index in range { body.append(bytes[index]) }
                case .end(let trailers): return (body, trailers)
                }
            }
            require(framing == .untilClose, "a body has no end")
        } catch {
            fatalError("a body can't be read: \(error)")
        }
        return (body, [:])
    }
}
