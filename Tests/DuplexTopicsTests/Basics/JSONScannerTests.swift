// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexTopics

@Suite("JSON that isn't decoded")
struct JSONScannerTests {
    private static let values = [
        "{}", "[]", " [ ] ", "null", "true", "false", "0", "-0", "12", "-1.5", "1e9", "1E+9", "0.25e-3", #""""#,
        #""a""#,
        #""\"\\\/\b\f\n\r\t\u00e9""#, #""\ud83d\ude00""#, #"{"a":1,"b":[true,{"c":null}]}"#, "[1, 2 ,3]",
        "\t{\"é\" :\r\n\"ü\"}\n",
        "[[[[1]]]]", "\"\u{7F}\u{2028}\"",
    ]
    private static let others = [
        "", " ", "{", "[", "]", "}", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
        "{'a':1}", "01", "+1",
        ".5", "1.", "1e", "1e+", "-", "tru", "nulll", "\"", "\"\n\"", #""\x""#, #""\u12""#, #""\u+123""#, #""\uzzzz""#,
        #""\ud800""#,
        #""\ud800a""#, #""\ud800\u0041""#, #""\udc00""#, "1 2", "{} {}", "NaN", "Infinity", "//", "[1]x",
    ]

    @Test("A value is one, and no beginning of an object or array is", arguments: values)
    func takes(text: String) {
        #expect(JSONScanner.isValue(text))
        guard text.contains("{") || text.contains("[") else { return }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        for end in trimmed.indices { #expect(!JSONScanner.isValue(trimmed[..<end]), "\(trimmed[..<end])") }
    }

    @Test("A decoder takes what is a value", arguments: values)
    func decodes(text: String) throws {
        _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }

    @Test("Everything else isn't", arguments: others)
    func refuses(text: String) {
        #expect(!JSONScanner.isValue(text))
        #expect(!JSONScanner.isValue("[\(text)x]"))
    }

    @Test("Arrays and objects nest to a limit")
    func nesting() {
        func nested(_ levels: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
        }
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            #expect(JSONScanner.isValue(nested(JSONScanner.mostLevels, open, close)))
            #expect(!JSONScanner.isValue(nested(JSONScanner.mostLevels + 1, open, close)))
            #expect(!JSONScanner.isValue(nested(100_000, open, close)))
        }
    }

    @Test("Members and elements are found where they stand")
    func finds() throws {
        let scanner = JSONScanner(#" {"a" : [1, "b,]" ,{"c":2}], "\u0061b":"x\ty","a":null} "#)
        let members = try #require(scanner.members(at: scanner.whole))
        #expect(members.map(\.name) == ["a", "ab", "a"])
        #expect(members.map { scanner.text(at: $0.place) } == [#"[1, "b,]" ,{"c":2}]"#, #""x\ty""#, "null"])
        let elements = try #require(scanner.elements(at: members[0].place))
        #expect(elements.map { scanner.text(at: $0) } == ["1", #""b,]""#, #"{"c":2}"#])
        #expect(scanner.string(at: members[1].place) == "x\ty")
        #expect(scanner.string(at: members[2].place) == nil)
        #expect(scanner.members(at: members[0].place) == nil && scanner.elements(at: members[1].place) == nil)
    }
}
