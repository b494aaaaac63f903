// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("Lines of JSON")
struct JSONLineTests {
    @Test(
        "What a terminal might obey stands in it as an escape, and is read as what it was",
        arguments: [
            ("plain é 😀", #"["plain é 😀"]"#), ("\u{1b}[2J\n", #"["\u001b[2J\n"]"#), ("\u{9b}", #"["\u009b"]"#),
            ("a\u{202e}b", #"["a\u202eb"]"#), ("\u{7f}", #"["\u007f"]"#), ("\u{E0041}", #"["\udb40\udc41"]"#),
        ]
    )
    func escapes(text: String, line: String) throws {
        #expect(try JSONLine.text(of: [text]) == line)
    }

    @Test("A failure is its message, its status and the URL, and an event among others")
    func failure() throws {
        let failure = Failure(.timedOut, "late")
        #expect(
            try JSONLine.text(of: FailureForm(failure, url: "ws://a/b"))
                == #"{"error":"late","status":5,"url":"ws://a/b"}"#
        )
        #expect(
            try JSONLine.text(of: FailureForm(failure, url: "u", event: "error"))
                == #"{"error":"late","event":"error","status":5,"url":"u"}"#
        )
    }

    @Test("Times are exact to a microsecond")
    func times() {
        #expect(Duration.nanoseconds(1_234_567).milliseconds == 1.235 && Duration.zero.milliseconds == 0)
    }
}
