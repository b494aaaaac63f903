// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexTesting

@Suite("What reads the responses of a server under test")
struct ResponseReaderTests {
    /// What came of the pieces: of each response its head, its body and its end.
    private static func read(_ pieces: [[UInt8]], answering method: HTTPRequest.Method = .get) -> [String] {
        var reader = ResponseReader()
        var said: [String] = []
        do {
            for piece in pieces {
                reader.append(piece)
                while try take(&reader, method, &said) {}
            }
            try reader.finish()
            while try take(&reader, method, &said) {}
        } catch {
            said.append("\(error.code)")
        }
        return said
    }

    /// Takes the next thing; false when more bytes are needed.
    private static func take(
        _ reader: inout ResponseReader,
        _ method: HTTPRequest.Method,
        _ said: inout [String]
    ) throws(HTTPError) -> Bool {
        guard reader.isMidBody else {
            guard let head = try reader.nextHead(answering: method) else { return false }
            said.append(head.status.kind == .informational ? "interim \(head.status.code)" : "\(head.status.code):")
            return true
        }
        switch try reader.nextPiece() {
        case nil: return false
        case .bytes(let bytes): said[said.count - 1] += String(decoding: bytes, as: UTF8.self)
        case .end: said.append("end" + reader.trailers.map { " \($0.name): \($0.value)" }.joined())
        }
        return true
    }

    @Test("Responses in every framing come out the same in every split")
    func framings() throws {
        let input = """
            HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
            HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
            HTTP/1.1 204 No Content\r\n\r\n\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 7\r\n\r\n\
            HTTP/1.1 200 OK\r\n\r\nto the end
            """
        let expected = ["interim 103", "200:hello", "end", "204:", "end", "200:abcde", "end X-Sum: 7"]
        try SplitVerifier().verify(Array(input.utf8)) { Self.read($0) }
        #expect(Self.read([Array(input.utf8)]) == expected + ["200:to the end", "end"])
    }

    @Test("The answer to HEAD has no body")
    func head() {
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8)
        #expect(Self.read([bytes], answering: .head) == ["200:", "end"])
    }

    @Test(
        "A response that is cut is an error",
        arguments: ["HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"]
    )
    func truncated(text: String) {
        #expect(Self.read([Array(text.utf8)]).last == "truncated")
    }

    @Test("What comes behind a switch of protocols is left")
    func rest() throws {
        var reader = ResponseReader()
        reader.append(Array("HTTP/1.1 101 Switching Protocols\r\n\r\nrest".utf8))
        #expect(try reader.nextHead(answering: .get)?.status == .switchingProtocols)
        #expect(reader.takeRest() == Array("rest".utf8) && reader.takeRest() == [])
    }
}
