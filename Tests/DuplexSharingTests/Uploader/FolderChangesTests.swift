// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import Testing

@testable import DuplexSharing

@Suite("Changes that nobody has been told of", .timeLimit(minutes: 1))
struct FolderChangesTests {
    private static func path(_ text: String) throws -> FolderPath { try #require(FolderPath(text)) }

    @Test("Each folder is there once, and gone when it is taken")
    func once() throws {
        let changes = FolderChanges()
        for text in ["b", "a", "b", ""] { changes.note(try Self.path(text)) }
        #expect(changes.take()?.map(\.text) == ["", "a", "b"])
        #expect(changes.take() == [])
    }

    @Test("There is one signal for any number of changes")
    func signals() async throws {
        let changes = FolderChanges()
        for number in 0..<10 { changes.note(try Self.path("\(number)")) }
        var signals = changes.signals.makeAsyncIterator()
        #expect(await signals.next() != nil)
        #expect(changes.take()?.count == 10)
        changes.note(.root)
        #expect(await signals.next() != nil)
        #expect(changes.take() == [.root])
    }

    @Test("More than are held are as good as all, and it goes on from there")
    func bound() throws {
        let changes = FolderChanges()
        for number in 0..<FolderChanges.bound { changes.note(try Self.path("\(number)")) }
        changes.note(try Self.path("0"))
        #expect(changes.take()?.count == FolderChanges.bound)
        for number in 0...FolderChanges.bound { changes.note(try Self.path("\(number)")) }
        #expect(changes.take() == nil)
        #expect(changes.take() == [])
    }
}
