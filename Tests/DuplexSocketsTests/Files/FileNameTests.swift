// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Testing

@testable import DuplexSockets

@Suite struct FileNameTests {
    @Test("A name that isn't UTF-8 has no text, and can be shown all the same")
    func texts() {
        let name = FileName(bytes: [0x2E, 0x61, 0xFF])
        #expect(name.text == nil && name.escaped == ".a%FF" && name.isHidden)
        #expect(FileName("ä%").text == "ä%" && FileName("ä%").escaped == "ä%" && !FileName("a").isHidden)
        #expect("a".fileName == FileName(bytes: [0x61]))
    }

    @Test("Files and folders are made, found, renamed and removed by the bytes of their names")
    func calls() async throws {
        try await withTestFolder { root in
            let folder = try openedFolder(root)
            let (first, second) = (FileName(bytes: [0xFF]), FileName(bytes: [0x61, 0xE9, 0x62]))
            try folder.makeFile(first).write([1, 2, 3])
            try folder.rename(first, to: folder, as: second, .refuse)
            #expect(try folder.status(of: first) == nil && folder.status(of: second)?.size == 3)
            try folder.makeFolder(first)
            #expect(try Set(folder.allNames(atMost: 9).names) == [first, second])
            #expect(try folder.names(atMost: 9).names == [])
            #expect(try folder.folder(first).allNames(atMost: 9).names == [])
            try folder.removeFile(second)
            try folder.removeFolder(first)
            #expect(try folder.allNames(atMost: 9).names == [])
            for bytes in [[], [0x2E], [0x2E, 0x2E], [0x61, 0x2F], [0x61, 0]] as [[UInt8]] {
                #expect(throws: SocketError.self) { try folder.makeFolder(FileName(bytes: bytes)) }
            }
        }
    }
}
