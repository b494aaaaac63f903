// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import Testing

@Suite("Event streams taken apart")
struct EventStreamParserTests {
    private struct Outcome: Equatable {
        var items: [EventStreamItem] = []
        var lastEventID = ""
        var failure: EventStreamError?
    }

    @discardableResult
    private static func parse(
        _ text: some Sequence<UInt8>,
        _ limits: EventStreamLimits = EventStreamLimits(),
        lastEventID: String = "",
        at location: SourceLocation = #_sourceLocation
    ) -> Outcome {
        expectSameInEverySplit(Array(text), sourceLocation: location) { pieces in
            var outcome = Outcome()
            var parser = EventStreamParser(limits: limits, lastEventID: lastEventID)
            do throws(EventStreamError) {
                for piece in pieces {
                    var position = 0
                    while let item = try parser.next(piece.span, from: &position) { outcome.items.append(item) }
                    #expect(position == piece.count)
                }
            } catch {
                outcome.failure = error
            }
            outcome.lastEventID = parser.lastEventID
            return outcome
        }
    }

    private static func parse(_ text: String, at location: SourceLocation = #_sourceLocation) -> Outcome {
        parse(text.utf8, at: location)
    }

    private static func message(_ data: String, _ id: String = "", type: String = "message") -> EventStreamItem {
        .event(type: type, data: data, lastEventID: id)
    }

    // The examples of the standard, section 9.2.6.

    @Test("Lines of data become one text")
    func twoLines() {
        #expect(Self.parse("data: YHOO\ndata: +2\ndata: 10\n\n").items == [Self.message("YHOO\n+2\n10")])
    }

    @Test("A comment, an event with an id, one that takes the id back, one with a space more")
    func fourBlocks() {
        let outcome = Self.parse(
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
        )
        #expect(
            outcome.items == [
                .comment("test stream"), Self.message("first event", "1"), Self.message("second event"),
                Self.message(" third event"),
            ]
        )
        #expect(outcome.lastEventID == "")
    }

    @Test("Data may be empty; what the end of the stream cuts short is dropped")
    func emptyData() {
        #expect(Self.parse("data\n\ndata\ndata\n\ndata:").items == [Self.message(""), Self.message("\n")])
    }

    @Test("A space behind the colon isn't part of the value")
    func space() {
        #expect(Self.parse("data:test\n\ndata: test\n\n").items == [Self.message("test"), Self.message("test")])
    }

    // The rules one by one.

    @Test("A line ends with a line feed, a carriage return or both, in any mixture", arguments: ["\n", "\r", "\r\n"])
    func lineEnds(end: String) {
        let items = [Self.message("a\nb", "1", type: "t"), Self.message("c", "1")]
        #expect(
            Self.parse("event: t\(end)id: 1\(end)data: a\(end)data: b\(end)\(end)data: c\(end)\(end)").items == items
        )
        for other in ["\n", "\r", "\r\n"] where !(end == "\r" && other == "\n") {
            #expect(Self.parse("data: x\(end)data: y\(other)\(other)").items == [Self.message("x\ny")])
            #expect(Self.parse("data: x\(end)\(other)data: y\(end)\(end)").items.count == 2)
        }
    }

    @Test("An event comes as soon as its empty line has ended, though a line feed may follow")
    func atOnce() throws {
        var parser = EventStreamParser()
        var position = 0
        let piece = Array("data: x\r\r".utf8)
        #expect(try parser.next(piece.span, from: &position) == Self.message("x"))
        position = 0
        let rest = Array("\ndata: y\r\n\r".utf8)
        #expect(try parser.next(rest.span, from: &position) == Self.message("y"))
    }

    @Test("One byte order mark at the beginning is passed over, and no other")
    func byteOrderMark() {
        #expect(Self.parse("\u{FEFF}data: x\n\n").items == [Self.message("x")])
        #expect(Self.parse("\u{FEFF}\n\u{FEFF}data: x\n\ndata: \u{FEFF}y\n\n").items == [Self.message("\u{FEFF}y")])
        #expect(Self.parse("\u{FEFF}\u{FEFF}data: x\n\n").items == [])
    }

    @Test("A field has the exact name; a line without a colon is a name; unknown ones are passed over")
    func names() {
        let text = "Data: x\n data: x\ndata : x\nother: x\nother\nevent\ndata: y\n\n"
        #expect(Self.parse(text).items == [Self.message("y")])
        #expect(Self.parse("event: a\nevent: b\ndata: x: y\n\n").items == [Self.message("x: y", type: "b")])
    }

    @Test("The type holds for one event, the id for all behind it; without data nothing happens but that")
    func headers() {
        let outcome = Self.parse("id: 1\nevent: t\n\nevent: u\ndata: a\n\ndata: b\n\nid: 2\n\nid: 3\n")
        #expect(outcome.items == [Self.message("a", "1", type: "u"), Self.message("b", "1")])
        #expect(outcome.lastEventID == "2", "the last one was cut short")
    }

    @Test("A stream goes on with the id of the one before")
    func goesOn() {
        #expect(Self.parse("data: x\n\n".utf8, lastEventID: "9").items == [Self.message("x", "9")])
    }

    @Test("An id with U+0000 is none")
    func nul() {
        #expect(Self.parse("id: 1\nid: 2\03\ndata: x\n\n").items == [Self.message("x", "1")])
    }

    @Test("A time to wait is digits only")
    func retry() {
        #expect(Self.parse("retry: 1500\nretry:0\n").items == [.retry(.milliseconds(1_500)), .retry(.zero)])
        let wrong = ["", "-1", "+1", "1.5", "1e3", "1 ", " 1", "0x1", "١", "99999999999999999999"]
        #expect(Self.parse(wrong.map { "retry: \($0)\n" }.joined()).items == [])
        #expect(Self.parse("retry: \nretry\nretry: 1 \nretry: 99999999999999999999\n").items == [])
    }

    @Test("A comment has the text behind its colon")
    func comments() {
        let items: [EventStreamItem] = [.comment(""), .comment("x"), .comment(": y")]
        #expect(Self.parse(":\n:x\n: : y\n").items == items)
    }

    @Test("What isn't UTF-8 is replaced, as a whole text is")
    func replaced() {
        let bytes = Array("data: a".utf8) + [0xFF, 0xC3] + Array("\ndata: ".utf8) + [0xA4] + Array("\n\n".utf8)
        #expect(Self.parse(bytes).items == [Self.message("a\u{FFFD}\u{FFFD}\n\u{FFFD}")])
    }

    @Test("A line and an event are bounded, and the error comes again")
    func bounds() throws {
        let limits = EventStreamLimits(lineSize: 10, eventSize: 8)
        #expect(Self.parse("data:12345\n\n".utf8, limits).items == [Self.message("12345")])
        #expect(Self.parse("data:123456\n\n".utf8, limits).failure?.code == .lineTooLong)
        #expect(Self.parse("data: x\n\n12345678901".utf8, limits).failure?.code == .lineTooLong)
        #expect(Self.parse("data:123\ndata:1234\n\n".utf8, limits).failure == nil)
        #expect(Self.parse("data:12345\ndata:123\n\n".utf8, limits).failure?.code == .eventTooLong)
        var parser = EventStreamParser(limits: limits)
        let bytes = Array("data:123456\n\n".utf8)
        for _ in 0..<2 {
            var position = 0
            #expect(throws: EventStreamError.self) { try parser.next(bytes.span, from: &position) }
        }
    }

    @Test("What is sent is what arrives")
    func roundTrip() throws {
        let texts = ["", " ", "a\nb", "\n", ":", "data: x\n\ndata: y", "ä😀", "x\n\n", "\u{FEFF}", "\0"]
        for text in texts {
            let event = try ServerSentEvent(text, event: " a: b", id: " 1:", retry: .milliseconds(7))
            let items: [EventStreamItem] = [
                .comment("c"), .retry(.milliseconds(7)), Self.message(text, " 1:", type: " a: b"),
            ]
            #expect(Self.parse(ServerSentEvent.comment("c") + event.bytes).items == items)
        }
    }

    @Test("A byte order mark is one in front of everything, and not behind an empty line")
    func laterMark() {
        #expect(Self.parse("\u{FEFF}data: x\n\n").items.count == 1)
        #expect(Self.parse("\n\u{FEFF}data: x\n\n").items.isEmpty)
    }
}

@Suite("Errors of event streams")
struct EventStreamErrorTests {
    @Test("An error says its code and what was seen")
    func description() {
        let error = EventStreamError(.lineTooLong, "A line is too long.")
        #expect(error.description == "EventStreamError.lineTooLong: A line is too long.")
        #expect(error.code.rawValue == "lineTooLong")
    }
}
