// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexWire
import Foundation
import Testing

@testable import DuplexInspector

@Suite struct FileFactsTests {
    @Test("The rights of a file are written as ls does")
    func modes() {
        #expect(FileFacts.mode(0o644) == "rw-r--r-- (644)")
        #expect(FileFacts.mode(0o700) == "rwx------ (700)")
        #expect(FileFacts.mode(0) == "--------- (0)")
    }

    @Test("What the system says of a file and a folder")
    func facts() async throws {
        try await withTestFolder(["a.txt": "four"]) { root async throws in
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: root + "a.txt")
            let file = try FileFacts(root + "a.txt")
            #expect(file.isFile && file.kind == "file" && file.size == 4 && file.mode == "rw-r----- (640)")
            #expect(try !FileFacts(root).isFile)
            #expect(throws: (any Error).self) { try FileFacts(root + "none") }
        }
    }

    @Test("An extended attribute is told as text, or in base 16 where some of it can't be seen")
    func attributes() {
        func attribute(_ bytes: [UInt8], _ size: Int? = nil) -> FileFacts.Attribute {
            FileFacts.Attribute(FileAttribute(name: "user.a", size: size ?? bytes.count, bytes: bytes))
        }
        #expect(attribute(Array("übung".utf8)) == .init(name: "user.a", size: 6, text: "übung", cut: false))
        #expect(attribute([0x61, 0]) == .init(name: "user.a", size: 2, text: "a", cut: false))
        #expect(attribute([0x1B, 0xFF]) == .init(name: "user.a", size: 2, hex: "1bff", cut: false))
        #expect(attribute([]) == .init(name: "user.a", size: 0, text: "", cut: false))
        let long = attribute([UInt8](repeating: 0x61, count: 4_096), 9_000)
        #expect(long.text?.count == 512 && long.cut)
    }
}
