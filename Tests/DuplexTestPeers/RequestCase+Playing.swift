// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexServer
import DuplexWire
import HTTPTypes

// A server that tells what it has seen, and a client that plays cases against it.

extension WebServer {
    /// Has every path answer with what the handler has seen, and bodies be short.
    ///
    /// - Parameter note: is told of each request that a handler has seen.
    package mutating func answerCorpus(_ note: @escaping @Sendable (Request, String) -> Void = { _, _ in }) {
        limits.http = .internet.with(bodySize: .kibibytes(4))
        for method in [HTTPRequest.Method.get, .head, .post, .put, .delete, .patch, .options] {
            on(method, "/*") { request in
                let body = try await request.body.collect()
                let target = request.head.target
                let summary = RequestCase.summary(method: request.method.rawValue, target: target, body: body)
                note(request, summary)
                var response = Response.text("seen")
                if let name = HTTPField.Name("Seen") { response.headers[name] = summary }
                return response
            }
        }
    }
}

extension RequestCase {
    /// Does what the case says, and tells what came of it, as ``transcript`` does.
    ///
    /// - Parameters:
    ///   - peer: a client that has just connected.
    ///   - isByteByByte: whether each byte goes out in a write of its own.
    /// - Returns: the responses, and whether the connection goes on behind them.
    /// - Throws: what the peer throws when nothing comes, or something that is no response.
    package func play(on peer: RawPeer, byteByByte isByteByByte: Bool = false) async throws -> [String] {
        for step in steps {
            switch step {
            case .send(let bytes):
                // Who is refused in the middle can't send the rest, and is to see why all the same.
                if isByteByByte { try? await peer.sendByteByByte(bytes) } else { try? await peer.send(bytes) }
            case .wait(let status):
                let head = RawResponse(head: try await peer.readHead())
                if head.status != status { return ["\(head.status) where \(status) is waited for"] }
            case .end: await peer.finishWriting()
            }
        }
        return try await staysOpen ? peer.answersWithProbe(behind: answers.count) : peer.answers(atMost: .max)
    }
}

extension RawPeer {
    /// What comes up to the end, or so many responses.
    fileprivate func answers(atMost count: Int) async throws -> [String] {
        var answers: [String] = []
        while answers.count < count {
            guard let answer = try await nextAnswer() else { return answers + ["close"] }
            answers.append(answer)
        }
        return answers
    }

    /// So many responses, and whether one more request is answered behind them.
    fileprivate func answersWithProbe(behind count: Int) async throws -> [String] {
        let answers = try await answers(atMost: count)
        if answers.last == "close" { return answers }
        try await send("GET /probe HTTP/1.1\r\nHost: a\r\n\r\n")
        let probe = try await nextAnswer() ?? "close"
        return answers + [probe == "200 GET /probe -" ? "open" : probe]
    }

    /// The next final response in words; `nil` at the end of the stream.
    private func nextAnswer() async throws -> String? {
        while true {
            let head: RawResponse
            do {
                head = RawResponse(head: try await readHead())
            } catch is EndOfStream {
                return nil
            }
            if head.status < 200 { continue }
            let seen = head["Seen"]
            let method = seen?.split(separator: " ").first.map(String.init) ?? "GET"
            _ = try await read(exactly: head.bodyLength(answering: method))
            return seen.map { "\(head.status) \($0)" } ?? "\(head.status)"
        }
    }
}
