// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexServer
@testable import DuplexSockets

@Suite("What is ready of a file")
struct ServedFileTests {
    /// Opens a file of a folder.
    static func open(_ name: String, in root: String) throws -> OpenedFile {
        guard case .found(let file) = try ConfinedFolder(path: root).find(name) else { throw CancellationError() }
        return file
    }

    @Test("The fields are made once, and those of a sibling name its coding")
    func headers() async throws {
        try await withTestFolder(["app.js": "let a = 1", "app.js.br": "coded", "a.bin": "bytes"]) { root in
            let served = ServedFile(try Self.open("app.js", in: root), path: "app.js", name: "app.js", FileOptions())
            #expect(served.mayBeCoded && served.type.essence == "text/javascript")
            let headers = served.plain.headers.headers
            #expect(headers[.eTag] == served.plain.tag?.description && headers[.vary] == "Accept-Encoding")
            #expect(headers[.contentEncoding] == nil && headers[.cacheControl] == "no-cache")
            let sibling = try #require(served.sibling(try Self.open("app.js.br", in: root), "br"))
            #expect(sibling.headers.headers[.contentEncoding] == "br" && sibling.tag != served.plain.tag)
            #expect(served.sibling(try Self.open(".", in: root), "br") == nil)
            let bytes = ServedFile(try Self.open("a.bin", in: root), path: "a.bin", name: "a.bin", FileOptions())
            #expect(!bytes.mayBeCoded && bytes.plain.headers.headers[.vary] == nil)
        }
    }
}
