// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexSockets

@Suite struct FolderDescentTests {
    @Test("A way goes down by names and up again, and knows what is left to be gone into")
    func wayDownAndUp() async throws {
        try await withTestFolder(["a/b/": "", "a/c/": ""]) { root in
            var way = FolderDescent(from: try openedFolder(root))
            way.rest = [FileName("a")]
            #expect(way.next() == FileName("a"))
            try way.enter(FileName("a"))
            way.rest = [FileName("b"), FileName("c")]
            #expect(way.next() == FileName("c"))
            try way.enter(FileName("c"))
            #expect(way.depth == 2 && way.next() == nil)
            #expect(try way.leave() == FileName("c"))
            #expect(way.rest == [FileName("b")])
            #expect(throws: SocketError.self) { try way.enter(FileName("nothing")) }
            #expect(try way.leave() == FileName("a"))
            #expect(way.depth == 0 && way.next() == nil)
            #expect(try way.folder.names(atMost: 9).names == ["a"])
        }
    }

    @Test("A way up that leads elsewhere isn't gone, and the way goes on from what is still there")
    func moved() async throws {
        try await withTestFolder(["a/b/c/d/": "", "other/": ""]) { root in
            var way = FolderDescent(from: try openedFolder(root))
            for name in ["a", "b", "c", "d"] { try way.enter(FileName(name)) }
            try FileManager.default.moveItem(atPath: root + "a/b/c", toPath: root + "other/c")
            _ = try way.leave()
            let error = #expect(throws: SocketError.self) { try way.leave() }
            #expect(error?.errno == EAGAIN)
            way.recover()
            #expect(way.depth == 2)
            #expect(try way.folder.names(atMost: 9).names == [])
            #expect(try way.leave() == FileName("b"))
        }
    }

    @Test("Another folder of the name isn't the one that was gone through")
    func replaced() async throws {
        try await withTestFolder(["a/b/": ""]) { root in
            var way = FolderDescent(from: try openedFolder(root))
            for name in ["a", "b"] { try way.enter(FileName(name)) }
            try FileManager.default.moveItem(atPath: root + "a", toPath: root + "old")
            try FileManager.default.createDirectory(atPath: root + "a", withIntermediateDirectories: false)
            way.recover()
            #expect(way.depth == 0)
        }
    }
}
