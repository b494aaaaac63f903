// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import Testing

@Suite("A recording that is shown from the beginning")
struct InspectorRecordingTests {
    @Test("An archive is taken")
    func archive() throws {
        let text = #"{"log":{"entries":[{"request":{"method":"GET","url":"http://a/"}}]}}"#
        _ = try InspectorRecording(har: Array(text.utf8), named: "a.har")
    }

    @Test("What is none is refused with a sentence", arguments: ["", "[]", "{}"])
    func refuses(text: String) {
        let error = #expect(throws: InspectorRecording.Refusal.self) {
            try InspectorRecording(har: Array(text.utf8), named: "a.har")
        }
        #expect(error?.description.hasSuffix(".") == true)
    }
}
