// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Reading the declarations of a source file")
struct DeclarationsTests {
    @Test(
        "Types are told from nested ones, and extensions from both",
        arguments: [
            ("struct A {}", ["A"], [], []), ("public final class A<B>: C {}", ["A"], [], []),
            ("enum A { struct B {} }", ["A"], ["B"], []), ("extension A.B { enum C {} }", [], ["C"], ["A"]),
            ("typealias A = B", ["A"], [], []), ("class func a() {}", [], [], []),
            ("// struct A {}\nlet a = \"struct B {}\"", [], [], []),
            ("let a = #\"\"\"\nenum A {\n\"\"\"#\nactor B {}", ["B"], [], []),
        ] as [(String, Set<String>, Set<String>, Set<String>)]
    )
    func findsNames(text: String, types: Set<String>, nested: Set<String>, extended: Set<String>) {
        let found = SourceFile(path: "a.swift", text: text).declarations
        #expect(found.types == types)
        #expect(found.nestedTypes == nested)
        #expect(found.extended == extended)
    }

    @Test("Functions count outside of types", arguments: [("func a() {}", true), ("struct A { func a() {} }", false)])
    func findsFunctions(text: String, isFound: Bool) {
        #expect(SourceFile(path: "a.swift", text: text).declarations.hasFunction == isFound)
    }
}
