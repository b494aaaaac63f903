// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Taking out of a text what isn't code")
struct CodeStripperTests {
    @Test(
        "Comments and the content of literals go, code stays",
        arguments: [
            ("a // b", "a     "),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("f(\"b { c\") + d", "f(\"     \") + d"),
            ("\"a \\\" b\" c", "\"      \" c"),
            ("#\"a \" \\n b\"# c", "#\"        \"# c"),
            ("\"a \\(b + \"c\") d\" e", "\"   (b + \" \")  \" e"),
            ("\"\"\"\na \" b\n\"\"\" c", "\"\"\"\n     \n\"\"\" c"),
            ("let a = /b\"{\\/c/ + d", "let a = /      / + d"),
            ("#\"\"\"\"# + a", "#\"  \"# + a"),
            ("a / b / \"c\"", "a / b / \" \""),
            ("\"// a\" b", "\"    \" b"),
        ]
    )
    func strips(text: String, code: String) {
        #expect(CodeStripper.code(of: text) == code)
    }

    @Test("Strings stay where they are asked for, comments don't")
    func keepsStrings() {
        #expect(CodeStripper.code(of: "f(\"// a\") // b", keepsStrings: true) == "f(\"// a\")     ")
    }

    @Test("Every file of the repository keeps its lines")
    func keepsLines() {
        for file in Repository.sources + Repository.tests {
            #expect(file.code.count { $0 == "\n" } == file.text.count { $0 == "\n" }, "\(file.path)")
        }
    }
}
