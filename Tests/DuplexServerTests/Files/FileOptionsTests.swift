// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexServer

@Suite("How files are served")
struct FileOptionsTests {
    @Test(
        "A name with a hash in it is told from others",
        arguments: [
            ("app.3f9a1c2b.js", true), ("main-DiwrgTda9.css", true), ("a.b.0123456789abcdef.png", true),
            ("app.zzzz1234.js", true), ("app.AAZZ1234.js", true),
            ("app.a1.js", false), ("app.@@@@1234.js", false), ("app.{{{{1234.js", false), ("app.abcd_1234.js", false),
            ("app.js", false),
            ("jquery-3.7.1.min.js", false), ("2026-11-22.txt", false), ("photo.12345678.jpg", false),
            ("introduction.html", false),
            ("my-introduction.html", false), ("a1b2c3d4e5", false), ("a1b2c3d4e5.js", false), ("", false),
        ]
    )
    func hashes(name: String, isHashed: Bool) {
        #expect(FileOptions.holdsHash(name) == isHashed)
    }

    @Test("Clients ask each time by default")
    func caching() {
        var options = FileOptions()
        #expect(options.cacheControl(of: "app.3f9a1c2b.js") == "no-cache")
        options.maxAge = .seconds(90)
        #expect(options.cacheControl(of: "app.3f9a1c2b.js") == "max-age=90")
        options.hashedNamesAreImmutable = true
        #expect(options.cacheControl(of: "app.3f9a1c2b.js") == "public, max-age=31536000, immutable")
        #expect(options.cacheControl(of: "app.js") == "max-age=90")
        options.maxAge = .seconds(-1)
        #expect(options.cacheControl(of: "app.js") == "max-age=0")
    }

    @Test("Types of the app come before those that are known")
    func types() {
        var options = FileOptions()
        options.types = ["js": "application/x-own", "own": "text/own"]
        #expect(options.type(of: "A.JS") == "application/x-own" && options.type(of: "a.own") == "text/own")
        #expect(options.type(of: "a.css") == .css && options.type(of: "a") == .octetStream)
    }
}
