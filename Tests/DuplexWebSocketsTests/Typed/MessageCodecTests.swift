// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct MessageCodecTests {
    @Test("An error tells which message it is, but shows nothing of it")
    func description() {
        let error = UndecodableMessage(.text("secret"), cause: NoteCodec.Wrong())
        #expect(error.message == "secret")
        #expect(error.description == "A text message of 6 bytes can't be decoded: Wrong()")
    }
}
