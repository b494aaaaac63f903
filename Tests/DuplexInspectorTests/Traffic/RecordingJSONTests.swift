// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Recordings as the page gets them")
struct RecordingJSONTests {
    @Test("Entries are listed in the order of their times")
    func rows() throws {
        var late = try Sample.exchange()
        late.began = Sample.began + 100
        let recording = try Recording(exchanges: [late], connections: [Sample.connection()])
        let list = RecordingJSON.Entries(recording) { $0 }
        #expect(list.entries.map(\.id) == ["c7", "e3"] && list.total == 2)
    }

    @Test("Lists are bounded, and say how many there are")
    func bound() throws {
        let exchange = try Sample.exchange()
        let recording = Recording(exchanges: Array(repeating: exchange, count: RecordingJSON.rowLimit + 1))
        let list = RecordingJSON.Entries(recording) { $0 }
        #expect(list.entries.count == RecordingJSON.rowLimit && list.total == RecordingJSON.rowLimit + 1)
    }

    @Test("Frames have CBOR with its notation, and are told of how many")
    func frames() throws {
        var connection = try Sample.connection()
        connection.frames[11].opcode = .binary
        connection.frames[11].payload = RecordedBytes([0xA1, 0x61, 0x61, 0x01])
        let list = RecordingJSON.Frames(Array(connection.frames.suffix(2)), of: 12)
        #expect(list.frames.count == 2 && list.total == 12)
        #expect(list.frames.map(\.cbor) == [nil, #"{"a": 1}"#])
    }

    @Test("Errors of a WebSocket are told beside its frames, the first hundred")
    func errors() throws {
        var connection = try Sample.connection()
        connection.errors = (0..<150).map { RecordedConnection.Fault(time: Double($0), message: "gone \($0)") }
        let whole = RecordingJSON.Connection(connection, frames: 12)
        #expect(whole.errors == (0..<100).map { .init(time: Double($0), message: "gone \($0)") })
        #expect(whole.frames == 12 && whole.handshake.status == 101)
    }

    @Test("A replay is told with what was different")
    func outcome() throws {
        let outcome = Replay.Outcome(status: 200, seconds: 1, differences: ["x"], error: nil)
        let told = RecordingJSON.Outcome(outcome, id: "e1", url: "http://a/", recorded: 404)
        let text = #"{"differences":["x"],"id":"e1","recorded":404,"seconds":1,"status":200,"url":"http://a/"}"#
        #expect(try CompactJSON.text(of: told) == text)
        #expect(try CompactJSON.value(of: text) == told)
    }
}
