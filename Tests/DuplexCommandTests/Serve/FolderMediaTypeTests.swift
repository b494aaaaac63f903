// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("The media types of files")
struct FolderMediaTypeTests {
    @Test(
        "The end of the name tells it, in any case",
        arguments: [
            ("index.html", MediaType.html), ("A.HTML", .html), ("a.b.css", .css), ("app.mjs", .javaScript),
            ("photo.JPG", "image/jpeg"), ("archive.tar.gz", "application/gzip"), ("README", .octetStream),
            ("a.unknown", .octetStream), ("a.", .octetStream), ("", .octetStream),
        ]
    )
    func types(name: String, type: MediaType) {
        #expect(FolderMediaType.of(name) == type)
    }
}
