// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import Testing

@Suite struct InspectorValueTests {
    private enum Level: String, CaseIterable, InspectorValue {
        case quiet
        case loud
    }

    private func isKept<Value: InspectorValue & Equatable>(_ value: Value) -> Bool {
        Value(inspectorText: value.inspectorText) == value
    }

    @Test("A value comes back out of its text")
    func roundTrips() {
        #expect(isKept("a\nb") && isKept(-7) && isKept(2.5) && isKept(true) && isKept(Level.loud))
    }

    @Test("A text that stands for no value is refused")
    func refusals() {
        #expect(Int(inspectorText: "2.5") == nil && Int(inspectorText: "") == nil)
        #expect(Double(inspectorText: "inf") == nil && Double(inspectorText: "nan") == nil)
        #expect(Bool(inspectorText: "yes") == nil && Level(inspectorText: "silent") == nil)
    }

    @Test("An enumeration of texts is chosen from a list")
    func kinds() {
        #expect(Level.inspectorKind == .choice(["quiet", "loud"]))
        #expect([String.inspectorKind, Int.inspectorKind, Double.inspectorKind] == [.text, .integer, .number])
        #expect(Bool.inspectorKind == .bool)
    }
}
