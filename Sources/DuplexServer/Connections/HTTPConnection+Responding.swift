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
        case .bytes(let bytes): respond(response, bytes)
        case .text(let text) where text.utf8.count >= Self.directSize: respond(response, Array(text.utf8))
        case .text(let text):
            // The body goes into the same piece as the head.
            send(response, text.utf8.count) { $0.append(contentsOf: text.utf8) }
        case .file, .writer: stream(response)
        }
    }

    private func respond(_ response: Response, _ body: [UInt8]) {
        if body.count < Self.directSize { return send(response, body.count) { $0.append(contentsOf: body) } }
        var bytes = services.takeScratch()
        do throws(HTTPError) {
            try writeHead(response, .bytes(body.count), into: &bytes)
            let isSent = try session.beginPiece(body.count, into: &bytes)
            channel.write(bytes.span.raw)
            bytes.removeAll(keepingCapacity: true)
            if isSent { channel.writeNow(body.span.raw) }
        } catch {
            return give(up: error)
        }
        finish(trailers: response.trailers, &bytes)
    }

    /// Sends a response with a short body.
    private func send(_ response: Response, _ count: Int, _ body: (inout [UInt8]) -> Void) {
        var bytes = services.takeScratch()
        do throws(HTTPError) {
            try writeHead(response, .bytes(count), into: &bytes)
            if try session.beginPiece(count, into: &bytes) { body(&bytes) }
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
            response.status,
            mediaType: response.mediaType,
            response.otherFields,
            length: length,
            date: services.dateValue(),
            into: &bytes
        )
    }

    /// Hands what was written to the channel.
    func write(_ bytes: inout [UInt8]) {
        if !bytes.isEmpty { channel.write(bytes.span.raw) }
        services.giveScratch(&bytes)
    }

    /// Sends the rest of the response behind what was written of it, and goes on as the session says.
    func finish(trailers: HTTPFields, _ bytes: inout [UInt8]) {
        let outcome = session.endResponse(trailers: trailers, now: now, into: &bytes)
        write(&bytes)
        if let exchange {
            exchange.onLoop(services.loop) { exchange, _ in exchange.end(CancellationError()) }
            self.exchange = nil
        }
        if present != nil { present = nil }
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
