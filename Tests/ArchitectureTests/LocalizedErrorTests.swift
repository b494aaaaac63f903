// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Errors as Foundation shows them")
struct LocalizedErrorTests {
    /// The names after `public struct`, or another kind of type, whose declaration conforms to `Error`.
    private static func publicErrors(in text: String) -> [String] {
        let pattern = /public (?:indirect )?(?:struct|enum|final class) (\w+)(?:<[^>]*>)?: (?:\w+, )*Error\b/
        return text.matches(of: pattern).map { String($0.1) }
    }

    /// The names of types that an extension makes a `LocalizedError`.
    private static func localized(in text: String) -> [String] {
        text.matches(of: /extension (?:\w+\.)?(\w+): LocalizedError\b/).map { String($0.1) }
    }

    @Test("Every public error has a sentence for localizedDescription")
    func all() {
        let errors = Set(Repository.sources.flatMap { Self.publicErrors(in: $0.code) })
        let localized = Set(Repository.sources.flatMap { Self.localized(in: $0.code) })
        #expect(errors.count >= 16)
        #expect(errors.subtracting(localized).sorted() == [])
    }

    @Test("A public error is found, and nothing else")
    func finds() {
        let text = """
            public struct A: Error, Sendable {}
            public struct B<Result: Sendable>: Error {}
            public enum C: String, Error {}
            struct D: Error {}
            public struct E: ErrorCode {}
            """
        #expect(Self.publicErrors(in: text) == ["A", "B", "C"])
        #expect(Self.localized(in: "extension A: LocalizedError {}\nextension B: Sendable {}") == ["A"])
        #expect(Self.localized(in: "extension A.B: LocalizedError {}") == ["B"])
    }
}
