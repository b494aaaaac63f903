// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Recordings as the page gets them")
struct RecordingJSONTests {
    @Test("Entries are listed in the order of their times")
    func rows() throws {
        var late = try Sample.exchange()
        late.began = Sample.began + 100
        let text = try RecordingJSON.rows(Recording(exchanges: [late], connections: [Sample.connection()])) { $0 }.text
        let places = try ["\"c7\"", "\"e3\""].map { try #require(text.firstRange(of: $0)).lowerBound }
        #expect(places == places.sorted())
        #expect(text.hasSuffix(#""total":2}"#))
    }

    @Test("Lists are bounded, and say how many there are")
    func bound() throws {
        let exchange = try Sample.exchange()
        let json = RecordingJSON.rows(
            Recording(exchanges: Array(repeating: exchange, count: RecordingJSON.rowLimit + 1))
        ) { $0 }
        guard case .object(let members) = json, case .array(let rows) = members[0].value else {
            Issue.record("no list")
            return
        }
        #expect(rows.count == RecordingJSON.rowLimit)
        #expect(members[1].value == .integer(Int64(RecordingJSON.rowLimit + 1)))
    }

    @Test("Frames have CBOR with its notation, and are told of how many")
    func frames() throws {
        var connection = try Sample.connection()
        connection.frames[11].opcode = .binary
        connection.frames[11].payload = RecordedBytes([0xA1, 0x61, 0x61, 0x01])
        guard case .object(let members) = RecordingJSON.frames(Array(connection.frames.suffix(2)), of: 12),
            case .array(let frames) = members[0].value
        else {
            Issue.record("no frames")
            return
        }
        #expect(frames.count == 2)
        #expect(members[1].value == .integer(12))
        #expect(frames.last?.text.contains(#""cbor":"{\"a\": 1}""#) == true)
    }

    @Test("Errors of a WebSocket are told beside its frames, the first hundred")
    func errors() throws {
        var connection = try Sample.connection()
        connection.errors = (0..<150).map { RecordedConnection.Fault(time: Double($0), message: "gone \($0)") }
        let text = RecordingJSON.whole(connection, frames: 12).text
        #expect(text.contains(#""errors":[{"time":0.0,"message":"gone 0"},{"time":1.0,"#))
        #expect(text.contains("gone 99") && !text.contains("gone 100"))
    }

    @Test("A replay is told with what was different")
    func outcome() {
        let outcome = Replay.Outcome(status: 200, seconds: 1, differences: ["x"], error: nil)
        #expect(
            RecordingJSON.outcome(outcome, id: "e1", url: "http://a/", recorded: 404).text
                == #"{"id":"e1","url":"http://a/","recorded":404,"status":200,"seconds":1.0,"differences":["x"]}"#
        )
    }
}
