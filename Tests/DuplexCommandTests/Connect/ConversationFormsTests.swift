// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("The JSON of duplex connect")
struct ConversationFormsTests {
    @Test(
        "A message is its text, or its bytes in Base64",
        arguments: [
            (Message.text("a\u{1b}"), #"{"event":"text","text":"a\u001b"}"#),
            (.text(""), #"{"event":"text","text":""}"#), (.binary([0, 255]), #"{"base64":"AP8=","event":"binary"}"#),
        ]
    )
    func messages(message: Message, line: String) throws {
        #expect(try JSONLine.text(of: MessageForm(message)) == line)
    }

    @Test("A stream's end has nothing to say")
    func ends() throws {
        #expect(try JSONLine.text(of: ClosingForm()) == #"{"event":"close"}"#)
    }
}
