// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("Members of JSON, masked")
struct JSONMaskTests {
    static let cases = [
        (#"{"user":"ada","pin":"1234"}"#, #"{"user":"ada","pin":"[masked]"}"#),
        (#"{"pin" : 1234 , "a":1}"#, #"{"pin" : "[masked]" , "a":1}"#),
        (#"{"pin":1234}"#, #"{"pin":"[masked]"}"#),
        (#"{"pin":"a\"b","x":1}"#, #"{"pin":"[masked]","x":1}"#),
        (#"{"pin":"a\\","x":1}"#, #"{"pin":"[masked]","x":1}"#),
        (#"{"pin":{"a":"}","b":[1,{"c":"]\""}]},"x":1}"#, #"{"pin":"[masked]","x":1}"#),
        (#"{"PIN":true}"#, #"{"PIN":"[masked]"}"#),
        (#"{"p\u0069n":true}"#, #"{"p\u0069n":"[masked]"}"#),
        (#"[{"pin":[]},{"pin":null}]"#, #"[{"pin":"[masked]"},{"pin":"[masked]"}]"#),
        (#"{"say":"pin","pins":1,"x":"\"pin\":2"}"#, #"{"say":"pin","pins":1,"x":"\"pin\":2"}"#),
        (#"["pin","pin"]"#, #"["pin","pin"]"#), (#"{"pin":"12"#, #"{"pin":"[masked]""#), ("no JSON", "no JSON"),
        ("", ""),
    ]

    @Test("The values of named members are hidden, and nothing else", arguments: cases)
    func masks(text: String, expected: String) {
        var mask = JSONMask(["pin"])
        #expect(String(decoding: mask.mask(Array(text.utf8)), as: UTF8.self) == expected)
    }

    @Test("Pieces are masked as the whole is, wherever it is split", arguments: cases)
    func pieces(text: String, expected: String) {
        let bytes = Array(text.utf8)
        for split in 0...bytes.count {
            var mask = JSONMask(["pin"])
            let result = mask.mask(Array(bytes[..<split])) + mask.mask(Array(bytes[split...]))
            #expect(String(decoding: result, as: UTF8.self) == expected)
        }
    }

    @Test("Without names nothing is masked")
    func none() {
        var mask = JSONMask([])
        #expect(mask.mask(Array(#"{"pin":1}"#.utf8)) == Array(#"{"pin":1}"#.utf8))
    }
}
