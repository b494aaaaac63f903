// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexSockets

@Suite struct WritableFileTests {
    @Test("Bytes come one behind the other, and are on the disk where that is asked for")
    func writing() async throws {
        try await withTestFolder { root in
            let file = try openedFolder(root).makeFile("a")
            try file.write([1, 2])
            try file.write([])
            try file.write([3])
            try file.setPermissions(0o640)
            try file.sync()
            #expect(try Data(contentsOf: URL(fileURLWithPath: root + "a")) == Data([1, 2, 3]))
            #expect(try openedFolder(root).status(of: "a")?.permissions == 0o640)
        }
    }

    @Test(
        "Another file's content comes whole: moved by the system, and read where that can't",
        arguments: [false, true]
    )
    func copying(isRead: Bool) async throws {
        let text = String(repeating: "0123456789abcdef", count: 200_000)
        try await withTestFolder(["a": text]) { root in
            let folder = try openedFolder(root)
            let (source, copy) = (try folder.file("a"), try folder.makeFile("b"))
            #if DEBUG
            let plan = FaultPlan()
            if isRead { plan.arm([FaultPlan.Rule(.writeFile, .fails(EXDEV))]) }
            try plan.run { try copy.write(contentOf: source) }
            #expect(plan.strikes == (isRead ? 1 : 0))
            #else
            try copy.write(contentOf: source)
            #endif
            #expect(try String(contentsOfFile: root + "b", encoding: .utf8) == text)
        }
    }

    #if DEBUG
    @Test("A full disk is an error that says so", arguments: [ENOSPC, EDQUOT])
    func full(code: Int32) async throws {
        try await withTestFolder { root in
            let file = try openedFolder(root).makeFile("a")
            let plan = FaultPlan()
            plan.arm([FaultPlan.Rule(.writeFile, .fails(code))])
            let error = #expect(throws: SocketError.self) { try plan.run { try file.write([1]) } }
            #expect(error?.isOutOfSpace == true)
        }
    }
    #endif

    @Test("Attributes are set, read and taken away, or it is said that there can be none")
    func attributes() async throws {
        try await withTestFolder(["a": "a"]) { root in
            let file = try openedFolder(root).file("a")
            do {
                #expect(try file.attribute("user.duplex.test") == nil)
                try file.setAttribute("user.duplex.test", [1, 2, 3])
                #expect(try file.attribute("user.duplex.test") == [1, 2, 3])
                try file.setAttribute("user.duplex.test", nil)
                try file.setAttribute("user.duplex.test", nil)
                #expect(try file.attribute("user.duplex.test") == nil)
            } catch let error as SocketError {
                #expect(error.errno == ENOTSUP)
            }
        }
    }
}
