// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite struct ValueFormTests {
    private enum Level: String, CaseIterable {
        case quiet
        case loud
    }

    private func isKept<Value: Equatable>(_ value: Value, _ form: ValueForm<Value>) -> Bool {
        form.value(form.text(value)) == value
    }

    @Test("A value comes back out of its text")
    func roundTrips() {
        #expect(isKept("a\nb", .text) && isKept(-7, .integer) && isKept(2.5, .number) && isKept(true, .bool))
        #expect(isKept(Level.loud, .choice))
    }

    @Test("A text that stands for no value is refused")
    func refusals() {
        #expect(ValueForm.integer.value("2.5") == nil && ValueForm.integer.value("") == nil)
        #expect(ValueForm.number.value("inf") == nil && ValueForm.number.value("nan") == nil)
        #expect(ValueForm.bool.value("yes") == nil && ValueForm<Level>.choice.value("silent") == nil)
    }

    @Test("A closure's value chooses the form: a text, a number, a truth, or a list of an enumeration's texts")
    func kinds() {
        var values = InspectorValues()
        values.add("text", get: { "a" })
        values.add("integer", get: { 1 })
        values.add("number", get: { 1.5 })
        values.add("bool", get: { true })
        values.add("choice", get: { Level.loud })
        let wanted: [ValueKind] = [.text, .integer, .number, .bool, .choice(["quiet", "loud"])]
        #expect(values.entries.map(\.kind) == wanted)
    }
}
