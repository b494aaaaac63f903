// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Testing

@testable import DuplexSharing

@Suite struct FolderPathTests {
    @Test(
        "Names with slashes between them; one before and one behind say nothing",
        arguments: ["a/b c", "/a/b c", "a/b c/"]
    )
    func reading(text: String) throws {
        let path = try #require(FolderPath(text))
        #expect(path.names == ["a", "b c"] && path.text == "a/b c" && path.name == "b c")
        #expect(path.parent == FolderPath("a") && path.parent.parent.isRoot && path.description == "/a/b c")
        #expect(path.isWithin(.root) && path.isWithin(path) && path.isWithin(path.parent))
        #expect(!path.parent.isWithin(path) && !path.isWithin(FolderPath("a/b")!))
    }

    @Test("The folder itself has no name", arguments: ["", "/"])
    func root(text: String) {
        #expect(FolderPath(text) == .root && FolderPath.root.name == "" && FolderPath.root.parent == .root)
    }

    @Test(
        "What leads elsewhere, or looks like something else, is no path",
        arguments: [
            "..", ".", "a/..", "a/./b", "a//b", "//", "a\u{0}b", "a\nb", "a\u{7F}", "a\u{85}b", "a\u{202E}gpj.exe",
            "a\u{2028}b", "\u{200F}a", ".duplex", ".duplex/trash", "a/.duplex-1", ".DUPLEX/trash", "a/.Duplex",
            String(repeating: "n", count: 256), String(repeating: "é", count: 128),
            String(repeating: "a/", count: 101) + "a",
        ]
    )
    func refused(text: String) {
        #expect(FolderPath(text) == nil)
    }

    @Test("Names that differ in bytes are two, though they look the same")
    func twins() throws {
        let (composed, decomposed) = (try #require(FolderPath("a/\u{E9}")), try #require(FolderPath("a/e\u{301}")))
        #expect(composed != decomposed && !composed.isWithin(decomposed) && !decomposed.isWithin(composed))
        #expect(Set([composed, decomposed, composed]).count == 2)
    }

    @Test(
        "What a file system may take for the folder of the server's own is no name",
        arguments: [
            ".du\u{AD}plex", "\u{200D}.duplex", ".duplex\u{200D}", ".duplex\u{301}", ".DUPLEX\u{200B}/trash",
            "DUPLEX~1",
            "duplex~2/trash",
        ]
    )
    func own(text: String) {
        #expect(FolderPath(text) == nil)
    }

    @Test(
        "Names that are odd, and lead nowhere else, are names",
        arguments: [
            "...", "..a", "a\\..\\b", "C:", "%2e%2e", "a b", "ａ", "日本語", "👩‍👩‍👧", "-rf", "~", "a:b", "con", "nul.txt",
            "duplex", "duplex~", "duplex~a", "a.duplex", ".dup", "d",
            String(repeating: "n", count: 255), "<img src=x onerror=alert(1)>", "a\"b'c",
        ]
    )
    func odd(name: String) {
        #expect(FolderPath(name)?.names == [name])
        #expect(FolderPath.root.appending(name)?.name == name)
    }

    @Test("A name with a slash can't be added")
    func adding() {
        #expect(FolderPath.root.appending("a/b") == nil && FolderPath.root.appending("..") == nil)
        #expect(FolderPath("a")?.appending("b")?.text == "a/b")
    }

    @Test("Hidden is what has a name that begins with a dot, on the way too")
    func hidden() {
        #expect(FolderPath("a/.b/c")?.isHidden == true && FolderPath("a/b.c")?.isHidden == false)
    }
}
