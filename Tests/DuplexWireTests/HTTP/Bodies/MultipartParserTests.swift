// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@Suite("A body of several parts")
struct MultipartParserTests {
    /// What came of a body: its parts, whether they ended, and what was wrong.
    fileprivate struct Outcome: Equatable {
        var heads: [MultipartHead] = []
        var contents: [[UInt8]] = []
        var ended = 0
        var failure: HTTPProtocolError?
    }

    private static let type: MediaType = "multipart/form-data; boundary=XyZ"

    private static func run(_ pieces: [[UInt8]], _ limits: MultipartLimits, _ type: MediaType) -> Outcome {
        var outcome = Outcome()
        do throws(HTTPProtocolError) {
            var parser = try MultipartParser(type, limits: limits)
            for piece in pieces {
                var position = 0
                while let event = try parser.next(piece.span, from: &position) { outcome.take(event) }
                #expect(position == piece.count)
            }
            try parser.finish()
        } catch {
            outcome.failure = error
        }
        return outcome
    }

    /// The same in every split.
    @discardableResult
    private static func parse(
        _ body: [UInt8],
        _ limits: MultipartLimits = MultipartLimits(),
        _ type: MediaType = type,
        at location: SourceLocation = #_sourceLocation
    ) -> Outcome {
        expectSameInEverySplit(body, sourceLocation: location) { run($0, limits, type) }
    }

    // MARK: What is right

    @Test("Parts come in order with their fields, and with their contents as they are")
    func form() {
        let body = wire(
            """
            --XyZ
            Content-Disposition: form-data; name="text"

            a value
            with two lines
            --XyZ
            content-disposition: form-data; name="file"; filename="ä.bin"
            Content-Type: application/octet-stream
            X-Other: 1

            \u{0}\u{1}--XyZ
            --XyZ--

            """
        )
        let outcome = Self.parse(body)
        #expect(outcome.failure == nil && outcome.ended == 2)
        #expect(outcome.heads.map(\.name) == ["text", "file"])
        #expect(outcome.heads.map(\.filename) == [nil, "ä.bin"])
        #expect(outcome.heads.map(\.mediaType.essence) == ["text/plain", "application/octet-stream"])
        #expect(outcome.contents == [wire("a value\nwith two lines"), wire("\u{0}\u{1}--XyZ")])
    }

    @Test("A folded field of a part's head is unfolded (RFC 2046 section 5.1, RFC 5322 section 2.2.3)")
    func folded() {
        let headers = "Content-Disposition: form-data;\n name=\"file\";\n\tfilename=\"a.txt\"\nX-A: b\n c"
        let outcome = Self.parse(wire("--XyZ\n\(headers)\n\nx\n--XyZ--"))
        #expect(outcome.failure == nil && outcome.contents == [Array("x".utf8)])
        #expect(outcome.heads.map(\.name) == ["file"] && outcome.heads.map(\.filename) == ["a.txt"])
    }

    @Test("What only looks like a delimiter is content, up to its last byte")
    func almost() {
        let contents = [
            "\r", "\n", "\r\n", "\r\n-", "\r\n--", "\r\n--X", "\r\n--Xy", "\r\n--XyA", "\r\r\n--Xy", "\r\n\r\n--XY",
            "--XyZ",
            "-", "\r\n--\r\n--Xy\r\n", " --XyZ", "\n--XyZ", "\r--XyZ", "\r\n--Xy\r\n--Xy", "",
        ]
        for content in contents {
            let outcome = Self.parse(Array("--XyZ\r\nA: b\r\n\r\nx\(content)\r\n--XyZ--".utf8))
            #expect(
                outcome.failure == nil && outcome.contents == [Array("x\(content)".utf8)],
                "\(content.debugDescription)"
            )
        }
    }

    @Test("A content may be empty, and may begin as a delimiter does")
    func beginnings() {
        for content in ["", "\r", "\r\n", "\r\n-", "-", "--", "--Xy", "\r\n--Xy", "\n"] {
            let outcome = Self.parse(Array("--XyZ\r\nA: b\r\n\r\n\(content)\r\n--XyZ--".utf8))
            #expect(outcome.failure == nil && outcome.contents == [Array(content.utf8)], "\(content.debugDescription)")
        }
        // The empty line's end is the delimiter's as well.
        #expect(Self.parse(Array("--XyZ\r\nA: b\r\n\r\n--XyZ--".utf8)).contents == [[]])
    }

    @Test(
        "What stands before the first part and behind the last one is passed over, and so are blanks behind a boundary"
    )
    func surroundings() {
        let outcome = Self.parse(wire("before\n--Xy\n\n--XyZ \t\n\nx\n--XyZ-- \nafter\n--XyZ\n\ny\n--XyZ--"))
        #expect(outcome.failure == nil && outcome.contents == [Array("x".utf8)])
    }

    @Test("A form without parts is one")
    func empty() {
        #expect(Self.parse(Array("--XyZ--\r\n".utf8)) == Outcome())
    }

    @Test("A boundary may have any of its characters, quoted")
    func boundaries() {
        for boundary in [
            "'()+_,-./:=?", "a b", String(repeating: "0", count: 70),
            "-----------------------------9051914041544843365972754266",
        ] {
            let type = MediaType(rawValue: "multipart/form-data; boundary=\"\(boundary)\"")
            let outcome = Self.parse(Array("--\(boundary)\r\n\r\nx\r\n--\(boundary)--".utf8), MultipartLimits(), type)
            #expect(outcome.failure == nil && outcome.contents == [[0x78]], "\(boundary)")
        }
    }

    @Test("A form within a part is that part's content, whatever its boundary begins with")
    func nested() {
        for inner in ["AbC", "XyZ2", "Xy", "-XyZ"] {
            let content = "--\(inner)\r\nA: b\r\n\r\none\r\n--\(inner)\r\n\r\ntwo\r\n--\(inner)--\r\n"
            let head = "Content-Type: multipart/mixed; boundary=\(inner)"
            let outcome = Self.parse(Array("--XyZ\r\n\(head)\r\n\r\n\(content)\r\n--XyZ--".utf8))
            if inner == "XyZ2" {
                // RFC 2046 section 5.1.2: an inner boundary that begins with the outer one is the sender's fault.
                #expect(outcome.failure?.status == .badRequest)
            } else {
                #expect(outcome.failure == nil && outcome.contents == [Array(content.utf8)], "\(inner)")
            }
        }
    }

    @Test(
        "A file's name in a charset that isn't UTF-8, or badly coded, is left out for the plain one",
        arguments: [
            "utf-16''%00a", "x-unknown''a", "UTF-8''%ff%fe", "UTF-8''%zz", "UTF-8''%", "UTF-8", "''a", "UTF-8'a",
        ]
    )
    func filenames(extended: String) {
        let head = "Content-Disposition: form-data; name=\"f\"; filename=\"plain.txt\"; filename*=\(extended)"
        let outcome = Self.parse(Array("--XyZ\r\n\(head)\r\n\r\nx\r\n--XyZ--".utf8))
        #expect(outcome.failure == nil && outcome.heads.map(\.filename) == ["plain.txt"])
    }

    @Test("A long content comes whole, in pieces of what came")
    func long() {
        let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let outcome = Self.parse(Array("--XyZ\r\n\r\n".utf8) + content + Array("\r\n--XyZ--".utf8))
        #expect(outcome.failure == nil && outcome.contents == [content])
    }

    // MARK: What is wrong

    @Test(
        "A type that isn't multipart is not taken, and one without a boundary is malformed",
        arguments: [
            ("text/plain; boundary=a", 415), ("", 415), ("multipart/form-data", 400),
            ("multipart/form-data; boundary=", 400),
            ("multipart/form-data; boundary=\"\"", 400), ("multipart/form-data; boundary=\"a \"", 400),
            ("multipart/form-data; boundary=\"a\r\nb\"", 400), ("multipart/form-data; boundary=\"ä\"", 400),
            ("multipart/form-data; boundary=\(String(repeating: "0", count: 71))", 400),
        ]
    )
    func badType(type: String, status: Int) {
        let error = #expect(throws: HTTPProtocolError.self) { try MultipartParser(MediaType(rawValue: type)) }
        #expect(error?.status.code == status)
    }

    @Test(
        "What isn't parts is malformed",
        arguments: [
            "", "x", "--XyZ", "--XyZ\r\n", "--XyZ\r\n\r\nx", "--XyZ\r\n\r\nx\r\n--XyZ", "--XyZ\r\n\r\nx\r\n--XyZ-",
            "--XyZ-x",
            "--XyZx\r\n\r\n", "--XyZ\n\nx\r\n--XyZ--", "--XyZ\rx", "--XyZ - \r\n", "--XyZ\r\nA: b\n\r\n\r\n--XyZ--",
            "--XyZ\r\nA\r\n\r\n\r\n--XyZ--", "--XyZ\r\nA : b\r\n\r\n\r\n--XyZ--",
            "--XyZ\r\n A: b\r\n\r\n\r\n--XyZ--",
            "--XyZ\r\nA: \u{1}\r\n\r\n\r\n--XyZ--",
        ]
    )
    func malformed(body: String) {
        #expect(Self.parse(Array(body.utf8)).failure?.status == .badRequest, "\(body.debugDescription)")
    }

    @Test("Beyond a limit it is too large, and up to it everything is taken")
    func limits() {
        let two = wire("--XyZ\nA: b\nC: d\n\n12345\n--XyZ\nA: b\n\n12345\n--XyZ--")
        let cases: [(MultipartLimits, MultipartLimits)] = [
            (MultipartLimits(partCount: 2), MultipartLimits(partCount: 1)),
            (MultipartLimits(partSize: 5), MultipartLimits(partSize: 4)),
            (MultipartLimits(totalSize: 10), MultipartLimits(totalSize: 9)),
            (MultipartLimits(headSize: 14), MultipartLimits(headSize: 13)),
            (MultipartLimits(headFields: 2), MultipartLimits(headFields: 1)),
        ]
        let folded = wire("--XyZ\nA: b\n c\n d\n\nx\n--XyZ--")
        #expect(Self.parse(folded, MultipartLimits(headFields: 3)).failure == nil)
        #expect(Self.parse(folded, MultipartLimits(headFields: 2)).failure?.status == .contentTooLarge)
        for (enough, tooFew) in cases {
            #expect(Self.parse(two, enough).failure == nil)
            // What came before the fault has been told or not, as the body was cut.
            let failure = expectSameInEverySplit(two) { Self.run($0, tooFew, Self.type).failure }
            #expect(failure?.status == .contentTooLarge)
        }
    }

    @Test("A body that has no part at all is given up before it has come whole")
    func preamble() {
        #expect(Self.run([[UInt8](repeating: 0x78, count: 9_000)], MultipartLimits(), Self.type).failure != nil)
    }

    @Test("An error comes again at each further call")
    func again() throws {
        var parser = try MultipartParser(Self.type)
        var position = 0
        let first = #expect(throws: HTTPProtocolError.self) {
            try parser.next(Array("--XyZ\n".utf8).span, from: &position)
        }
        let second = #expect(throws: HTTPProtocolError.self) { try parser.next([UInt8]().span, from: &position) }
        #expect(first == second)
    }
}

extension MultipartParserTests.Outcome {
    fileprivate mutating func take(_ event: MultipartEvent) {
        switch event {
        case .begin(let head):
            heads.append(head)
            contents.append([])
        case .piece(let bytes):
            #expect(!bytes.isEmpty)
            contents[contents.count - 1] += bytes
        case .end: ended += 1
        }
    }
}

@Suite("Parts of a form")
struct MultipartEventTests {
    @Test("A part without a type is plain text, and one without a name has an empty one")
    func defaults() throws {
        var parser = try MultipartParser("multipart/form-data; boundary=b")
        var position = 0
        let event = try parser.next(Array("--b\r\n\r\nx\r\n--b--".utf8).span, from: &position)
        guard case .begin(let head) = event else {
            Issue.record("no part has begun: \(String(describing: event))")
            return
        }
        #expect(head.name.isEmpty && head.filename == nil && head.disposition == nil && head.headers.isEmpty)
        #expect(head.mediaType.essence == "text/plain")
    }

    @Test("By default a form has 1,000 parts with small heads, and contents as long as the body")
    func limits() {
        let limits = MultipartLimits()
        #expect(limits.partCount == 1_000 && limits.headSize == .kibibytes(8) && limits.headFields == 32)
        #expect(limits.partSize == .unlimited && limits.totalSize == .unlimited)
    }
}
