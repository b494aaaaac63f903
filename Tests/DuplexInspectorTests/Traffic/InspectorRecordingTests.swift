// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

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

@Suite("Recordings that were imported")
struct RecordingStoreTests {
    @Test("They are found by their numbers, and forgotten")
    func keeps() {
        let store = RecordingStore()
        let first = store.add(HARFile.Reading(skipped: 2), named: "one", size: 10)
        let second = store.add(HARFile.Reading(), named: String(repeating: "x", count: 500), size: 10)
        #expect(store[first]?.name == "one")
        #expect(store[first]?.skipped == 2)
        #expect(store[second]?.name.count == 200)
        store.remove(first)
        #expect(store[first] == nil)
        #expect(store.all.map(\.id) == [second])
    }

    @Test("The oldest make room, by number and by size")
    func bounds() {
        let store = RecordingStore()
        for index in 0..<20 { store.add(HARFile.Reading(), named: "\(index)", size: 1) }
        #expect(store.all.map(\.name) == (12..<20).map { "\($0)" })
        store.add(HARFile.Reading(), named: "large", size: RecordingStore.byteLimit.bytes)
        #expect(store.all.map(\.name) == ["large"])
        store.add(HARFile.Reading(), named: "larger", size: RecordingStore.byteLimit.bytes * 2)
        #expect(store.all.map(\.name) == ["larger"])
    }

    @Test("What is imported takes no room of what the app shows, nor the other way round")
    func kinds() {
        let store = RecordingStore()
        for index in 0..<10 { store.add(HARFile.Reading(), named: "own \(index)", size: 1, isImported: false) }
        for index in 0..<20 { store.add(HARFile.Reading(), named: "\(index)", size: RecordingStore.byteLimit.bytes) }
        #expect(store.all.map(\.name) == (2..<10).map { "own \($0)" } + ["19"])
        store.add(HARFile.Reading(), named: "own large", size: RecordingStore.byteLimit.bytes * 2, isImported: false)
        #expect(store.all.map(\.name) == ["19", "own large"])
    }
}
