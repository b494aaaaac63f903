// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
            #expect(file.isFile && !file.mayBeDatabase)
            #expect(text.contains(#""kind":"file","size":4"#) && text.contains(#""mode":"rw-r----- (640)""#))
            #expect(try !FileFacts(root).isFile)
            #expect(throws: (any Error).self) { try FileFacts(root + "none") }
        }
    }
}
