// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization
import Testing

@testable import DuplexServer

@Suite("Text of clients in logs")
struct LogTextTests {
    @Test(
        "Nobody begins a line, ends a quotation or steers a terminal",
        arguments: [
            ("plain text/1.0 (x; y)", "plain text/1.0 (x; y)"), ("", ""), ("a\"b", #"a\"b"#), (#"a\b"#, #"a\\b"#),
            ("a\r\nb", #"a\x0d\x0ab"#), ("\u{1b}[2J\u{7f}\0", #"\x1b[2J\x7f\x00"#), ("é", #"\xc3\xa9"#),
            ("\u{9b}", #"\xc2\x9b"#), ("\u{2028}", #"\xe2\x80\xa8"#),
        ]
    )
    func escaped(text: String, expected: String) {
        #expect(LogText.escaped(text) == expected)
    }

    @Test("A word has no spaces")
    func words() {
        #expect(LogText.escaped("a b", isWord: true) == #"a\x20b"#)
        #expect(LogText.escaped("a b") == "a b")
    }
}

@Suite("The time in logs")
struct LogTimeTests {
    @Test(
        "It is local in one form, and UTC in the other",
        arguments: [
            (971_211_336, -25_200, "10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36Z"),
            (1_763_745_000, 3_600, "21/Nov/2025:18:10:00 +0100", "2025-11-21T17:10:00Z"),
            (951_782_399, 20_700, "29/Feb/2000:05:44:59 +0545", "2000-02-28T23:59:59Z"),
            (-1, 0, "31/Dec/1969:23:59:59 +0000", "1969-12-31T23:59:59Z"),
        ]
    )
    func forms(seconds: Int64, offset: Int, common: String, standard: String) {
        let time = LogTime(UnixTime(seconds: seconds), offset: offset)
        #expect(time.common == common && time.standard == standard)
    }

    @Test("A clock writes each second anew")
    func clock() {
        let seconds = Mutex<Int64>(0)
        let clock = LogClock { UnixTime(seconds: seconds.withLock { $0 }) }
        #expect(clock.now().standard == "1970-01-01T00:00:00Z" && clock.now() == clock.now())
        seconds.withLock { $0 = 61 }
        #expect(clock.now().standard == "1970-01-01T00:01:01Z")
    }
}
