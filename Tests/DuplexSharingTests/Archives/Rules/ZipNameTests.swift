// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSharing
@testable import DuplexWire

@Suite("Names in a zip")
struct ZipNameTests {
    @Test(
        "None leads out of the folder that it is extracted to",
        arguments: [
            ("a/b.txt", "a/b.txt"), ("ä/☃.txt", "ä/☃.txt"), ("/etc/passwd", "etc/passwd"), ("//a//b/", "a/b"),
            ("../a", "__/a"), ("a/../../b", "a/__/__/b"), ("./a/.", "a"), ("...", "___"), (".. /a", "__ /a"),
            ("a\\..\\b", "a_.._b"), ("C:\\a", "C__a"), ("c:/a", "c_/a"), ("a/c:d", "a/c:d"), ("ab:c", "ab:c"),
            ("a\u{0}b\nc\u{7F}d\u{9B}", "a_b_c_d_"), ("a\u{202E}gpj.exe\u{2028}\u{200F}\u{2066}", "a_gpj.exe___"),
            ("", "_"), ("/", "_"), (".", "_"), (".hidden", ".hidden"),
            ("a/\u{301}b", "a/\u{301}b"), ("../\u{301}b", "__/\u{301}b"), ("..\u{301}", "..\u{301}"),
        ]
    )
    func safe(path: String, name: String) {
        #expect(Array(ZipName.safe(path).utf8) == Array(name.utf8))
        // What is safe stays as it is.
        #expect(ZipName.safe(name) == name)
    }

    @Test("A name is cut where its length wouldn't fit, and not within a character")
    func long() {
        for filler in ["x", "ä", "☃", "😀"] {
            let name = ZipName.safe("a" + String(repeating: filler, count: 70_000))
            #expect(name.utf8.count <= 65_000 && name.utf8.count > 64_990)
            #expect(name.hasSuffix(filler))
        }
    }

    @Test("Names that are there already get a number before their extension")
    func numbers() {
        var names = ZipNames()
        let given = [
            "a.txt", "a.txt", "a.txt", "a (2).txt", "b/.x", "b/.x", "b.c/d", "b.c/d", "A.txt", "e\u{301}", "é",
        ]
        let taken = [
            "a.txt", "a (2).txt", "a (3).txt", "a (2) (2).txt", "b/.x", "b/.x (2)", "b.c/d", "b.c/d (2)", "A.txt",
            "e\u{301}", "é (2)",
        ]
        #expect(given.map { names.file($0) } == taken)
    }

    @Test("A folder that is there already needs no second entry, and doesn't take a file's name")
    func folders() {
        var names = ZipNames()
        #expect(names.folder("a") == "a" && names.folder("a") == nil)
        #expect(names.file("a") == "a (2)")
        #expect(names.file("b") == "b" && names.folder("b") == "b (2)")
    }

    @Test("The same name thousands of times takes no longer for each")
    func many() {
        var names = ZipNames()
        var last = ""
        for _ in 0..<20_000 { last = names.file("same.txt") }
        #expect(last == "same (20000).txt")
    }
}
