// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite("Where below a folder a request leads")
struct FilePathTests {
    @Test(
        "Names are decoded one by one",
        arguments: [
            ("/", 0, "", "", true), ("/a", 0, "a", "a", false), ("/a/", 0, "a", "a", true),
            ("/x/a%20b/c", 1, "a b/c", "c", false),
            ("/x/", 1, "", "", true), ("/x", 1, "", "", false), ("/x/y/%C3%A9", 2, "é", "é", false),
            ("/a%5cb", 0, "a\\b", "a\\b", false), ("/...", 0, nil, nil, nil), ("/c:", 0, "c:", "c:", false),
            ("/.well-known/acme/token", 0, ".well-known/acme/token", "token", false),
        ] as [(String, Int, String?, String?, Bool?)]
    )
    func names(path: String, depth: Int, text: String?, name: String?, isFolder: Bool?) {
        let found = FilePath(path, behind: depth, showsHidden: false)
        #expect(found?.text == text && found?.name == name && found?.isFolder == isFolder)
    }

    @Test(
        "What is no name of a file leads nowhere",
        arguments: [
            "", "a", "*", "//", "//a", "/a//b", "/.", "/..", "/a/../b", "/%2e%2e/a", "/%2e", "/a%2fb", "/%2f", "/a%00b",
            "/%ff", "/%c0%ae%c0%ae/a",
            "/%", "/%a", "/%zz", "/.a", "/a/.b", "/a/.well-known/b", "/.well-known/.a",
        ]
    )
    func nowhere(path: String) {
        #expect(FilePath(path, behind: 0, showsHidden: false) == nil)
    }

    @Test("Hidden names are answered where they are to be; dots never")
    func hidden() {
        #expect(FilePath("/.a/.b", behind: 0, showsHidden: true)?.text == ".a/.b")
        for path in ["/.", "/..", "/.a/../b", "/%2e%2e"] {
            #expect(FilePath(path, behind: 0, showsHidden: true) == nil)
        }
        #expect(FilePath("/x", behind: 2, showsHidden: true) == nil)
    }
}
