// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexSockets
import DuplexWire
import HTTPTypes
import Logging

// From a response to the channel.

extension HTTPConnection {
    /// Bodies from this size on are sent from where they lie.
    private static let directSize = 16 * 1_024

    /// Sends a response whose body is at hand, or has the runner make the body.
    func respond(_ response: Response, to request: Request) {
        if !respondAtOnce(response) { start(.response(response, request)) }
    }

    /// Sends a response whose body is at hand.
    ///
    /// - Returns: whether it is; if not, nothing was done.
    func respondAtOnce(_ response: Response) -> Bool {
        guard stage == .serving else { return true }
        switch response.body.content {
        case .bytes(let bytes): respond(response, bytes.span.raw)
        case .text(let text): respond(response, text.utf8.span.raw)
        case .pushed(let begin): push(response, begin)
        case .coded(let coded): return respondAtOnce(response, coded)
        case .file, .writer: return false
        }
        return true
    }

    /// Sends a response whose body is coded at once.
    @inline(never)
    private func respondAtOnce(_ response: Response, _ coded: CodedBody) -> Bool {
        guard coded.isAtHand else { return false }
        let bytes: [UInt8]?
        switch coded.body.content {
        case .bytes(let plain): bytes = self.coded(plain.span.raw, coded)
        case .text(let plain): bytes = self.coded(plain.utf8.span.raw, coded)
        case .file, .writer, .pushed, .coded: return false
        }
        guard let bytes else {
            give(up: Self.noMemory)
            return true
        }
        if let record = present?.record, session.sendsBody { record.sent(bytes.count) }
        respond(response, bytes.span.raw)
        return true
    }

    private func coded(_ plain: RawSpan, _ body: CodedBody) -> [UInt8]? {
        services.core.shared(ContentPool.init).deflate(plain, body.coding, level: body.level)
    }

    /// Nothing of the response has gone, and nothing can.
    static var noMemory: HTTPError { HTTPError(.wrongLength, "there is no memory to compress it") }

    /// Sends a response with that body.
    func respond(_ response: Response, _ body: RawSpan) {
        if body.byteCount >= Self.directSize { return respondInPlace(response, body) }
        var bytes = services.takeScratch()
        do throws(HTTPError) {
            // The body goes into the same piece as the head.
            let outcome = try session.writeResponse(
                services.start(of: response),
                response.prepared,
                response.prepared == nil ? response.otherFields : HTTPFields(),
                body: body,
                trailers: response.trailers,
                now: now,
                into: &bytes
            )
            conclude(outcome, &bytes)
        } catch {
            give(up: error)
        }
    }

    /// Begins a response that is made without a task.
    private func push(_ response: Response, _ begin: (Exchange) -> Void) {
        guard let exchange = beginBody(response, nil) else { return }
        // In answer to HEAD nothing is written: what has no end would never come to it.
        guard session.sendsBody else { return finishBody(of: exchange, trailers: response.trailers) }
        begin(exchange)
        if services.isStopping { endPushing() }
    }

    private func respondInPlace(_ response: Response, _ body: RawSpan) {
        var bytes = services.takeScratch()
        do throws(HTTPError) {
            try writeHead(response, .bytes(body.byteCount), into: &bytes)
            let isSent = try session.beginPiece(body.byteCount, into: &bytes)
            if isSent { writeInPlace(body, behind: &bytes) }
        } catch {
            return give(up: error)
        }
        finish(trailers: response.trailers, &bytes)
    }

    func writeHead(
        _ response: Response,
        _ length: ResponseLength,
        into bytes: inout [UInt8]
    ) throws(HTTPError) {
        try session.writeHead(
            services.start(of: response),
            response.prepared,
            response.prepared == nil ? response.otherFields : HTTPFields(),
            length: length,
            into: &bytes
        )
    }

    /// Has a body sent from where it lies, behind what was written of the response.
    func writeInPlace(_ body: RawSpan, behind bytes: inout [UInt8]) {
        channel.write(bytes.span.raw)
        bytes.removeAll(keepingCapacity: true)
        channel.writeNow(body)
    }

    /// Hands what was written to the channel.
    func write(_ bytes: inout [UInt8]) {
        if !bytes.isEmpty { channel.write(bytes.span.raw) }
        services.giveScratch(&bytes)
    }

    /// Sends the rest of the response behind what was written of it, and goes on as the session says.
    func finish(trailers: HTTPFields, _ bytes: inout [UInt8]) {
        conclude(session.endResponse(trailers: trailers, now: now, into: &bytes), &bytes)
    }

    private func conclude(_ outcome: HTTPServerSession.Outcome, _ bytes: inout [UInt8]) {
        write(&bytes)
        if let exchange {
            exchange.onLoop(services.loop) { exchange, _ in exchange.end(CancellationError()) }
            self.exchange = nil
            releaseBody()
        }
        if present != nil {
            if present?.record != nil { endRecord(isCut: outcome == .cut) }
            present = nil
        }
        switch outcome {
        case .next: holdBackIfBehind()
        case .close: linger()
        case .cut: cut()
        }
    }

    /// Ends the connection so that nobody takes what came of a response for the whole.
    func cut() {
        session.abandonResponse()
        channel.reset()
        end()
    }

    /// A response that breaks the rules of the protocol: nothing of it has gone, or too little.
    func give(up error: HTTPError) {
        services.logger.error(
            "a response can't be sent",
            metadata: ["route": "\(present?.route ?? "")", "error": "\(error)"]
        )
        present?.record?.unanswered()
        cut()
    }
}
