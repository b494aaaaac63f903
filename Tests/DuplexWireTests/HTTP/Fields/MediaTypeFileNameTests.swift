// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("The media types of files")
struct MediaTypeFileNameTests {
    @Test(
        "The end of the name tells it, in any case",
        arguments: [
            ("index.html", MediaType.html), ("A.HTML", .html), ("a.b.css", .css), ("app.mjs", .javaScript),
            ("photo.JPG", "image/jpeg"), ("archive.tar.gz", "application/gzip"), ("README", .octetStream),
            ("a.unknown", .octetStream), ("a.", .octetStream), ("", .octetStream), ("notes.txt", .plainText),
            ("\u{301}.é\u{301}.PnG", "image/png"), (".html", .html),
        ]
    )
    func types(name: String, type: MediaType) {
        #expect(MediaType.ofFile(named: name) == type)
    }
}
