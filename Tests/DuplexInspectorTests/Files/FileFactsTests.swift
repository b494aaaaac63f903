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
            var members = JSONText.Members()
            let file = try FileFacts(root + "a.txt")
            file.add(to: &members)
            let text = JSONText.object(members.all).text
            #expect(file.isFile)
            #expect(text.contains(#""kind":"file","size":4"#) && text.contains(#""mode":"rw-r----- (640)""#))
            #expect(try !FileFacts(root).isFile)
            #expect(throws: (any Error).self) { try FileFacts(root + "none") }
        }
    }

    @Test("An extended attribute is told as text, or in base 16 where some of it can't be seen")
    func attributes() {
        func text(_ bytes: [UInt8], _ size: Int? = nil) -> String {
            FileFacts.json(FileAttribute(name: "user.a", size: size ?? bytes.count, bytes: bytes)).text
        }
        #expect(text(Array("übung".utf8)) == #"{"name":"user.a","size":6,"text":"übung","cut":false}"#)
        #expect(text([0x61, 0]) == #"{"name":"user.a","size":2,"text":"a","cut":false}"#)
        #expect(text([0x1B, 0xFF]) == #"{"name":"user.a","size":2,"hex":"1bff","cut":false}"#)
        #expect(text([]) == #"{"name":"user.a","size":0,"text":"","cut":false}"#)
        #expect(text([UInt8](repeating: 0x61, count: 4_096), 9_000).hasSuffix(#"a","cut":true}"#))
    }
}
