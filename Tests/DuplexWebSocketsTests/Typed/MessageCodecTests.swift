// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Synchronization
import Testing

@testable import DuplexWebSockets

@Suite struct MessageCodecTests {
    @Test("An error tells which message it is, but shows nothing of it")
    func description() {
        let error = UndecodableMessage(.text("secret"), cause: NoteCodec.Wrong())
        #expect(error.message == "secret")
        #expect(error.description == "A text message of 6 bytes can't be decoded: Wrong()")
    }
}

@Suite struct ValueCodingTests {
    private func coding(_ policy: UndecodablePolicy) -> ValueCoding<Note, Note> {
        ValueCoding(codec: NoteCodec(), undecodable: policy)
    }

    @Test("What a codec throws is the cause of an error that says in which direction")
    func errors() async throws {
        let coding = coding(.report)
        #expect(try coding.encode(Note(id: 1, text: "one")) == "1:one")
        #expect(try await coding.decode("1:one") { _, _ in } == Note(id: 1, text: "one"))
        do throws(WebSocketError) {
            _ = try coding.encode(Note(id: 1, text: ""))
            Issue.record("It was encoded.")
        } catch {
            #expect(error.code == .encodingFailed && error.cause is NoteCodec.Wrong && error.undecodable == nil)
        }
        do throws(WebSocketError) {
            _ = try await coding.decode("secret") { _, _ in Issue.record("It is to be closed.") }
            Issue.record("It was decoded.")
        } catch {
            #expect(error.code == .decodingFailed && error.undecodable?.message == "secret")
            #expect(error.undecodable?.cause is NoteCodec.Wrong && !error.description.contains("secret"))
        }
    }

    @Test("A policy closes with its code and throws, or is told and throws nothing")
    func policies() async throws {
        let closed = Mutex<[CloseCode]>([])
        await expect(.decodingFailed) {
            try await coding(.close(.unsupportedData)).decode("x") { code, _ in closed.withLock { $0.append(code) } }
        }
        #expect(closed.withLock { $0 } == [.unsupportedData])
        let skipped = Mutex<[Message]>([])
        let skipping = coding(.skip { message, _ in skipped.withLock { $0.append(message) } })
        #expect(try await skipping.decode("x") { _, _ in Issue.record("It is to be closed.") } == nil)
        #expect(skipped.withLock { $0 } == ["x"])
    }
}
