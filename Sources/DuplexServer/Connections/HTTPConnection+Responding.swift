// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Logging

// From a response to the channel.

extension HTTPConnection {
    /// Bodies from this size on are sent from where they lie.
    private static let directSize = 16 * 1_024

    /// Sends a response whose body is at hand, or has the runner make the body.
    func respond(_ response: Response) {
        guard stage == .serving else { return }
        switch response.body.content {
        case .bytes(let bytes): respond(response, bytes.count) { write(bytes.span.raw) }
        case .text(let text): respond(response, text)
        case .file, .writer: stream(response)
        }
    }

    private func respond(_ response: Response, _ text: String) {
        let count = text.utf8.count
        if count < Self.directSize {
            respond(response, count) { services.scratch.append(contentsOf: text.utf8) }
        } else {
            respond(response, count) { write(Array(text.utf8).span.raw) }
        }
    }

    private func respond(_ response: Response, _ count: Int, _ body: () -> Void) {
        services.trimScratch()
        do throws(HTTPError) {
            try writeHead(response, .bytes(count))
            if try session.beginPiece(count, into: &services.scratch) { body() }
        } catch {
            return give(up: error)
        }
        finish(trailers: response.trailers)
    }

    /// Appends bytes, or has them sent at once where they are many.
    private func write(_ bytes: RawSpan) {
        if bytes.byteCount < Self.directSize {
            services.scratch.append(bytes)
        } else {
            writeScratch()
            channel.writeNow(bytes)
        }
    }

    func writeHead(_ response: Response, _ length: ResponseLength) throws(HTTPError) {
        try session.writeHead(
            response.status,
            mediaType: response.mediaType,
            response.otherFields,
            length: length,
            date: services.dateValue(),
            into: &services.scratch
        )
    }

    func writeScratch() {
        services.writeScratch(to: channel)
    }

    /// Sends the rest of the response, and goes on as the session says.
    func finish(trailers: HTTPFields) {
        let outcome = session.endResponse(trailers: trailers, now: now, into: &services.scratch)
        writeScratch()
        exchange?.onLoop(services.loop) { exchange, _ in exchange.end(CancellationError()) }
        exchange = nil
        present = nil
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
        end(CancellationError())
    }

    /// A response that breaks the rules of the protocol: nothing of it has gone, or too little.
    func give(up error: HTTPError) {
        services.logger.error(
            "a response can't be sent",
            metadata: ["route": "\(present?.route ?? "")", "error": "\(error)"]
        )
        cut()
    }
}
