// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("What requests to the uploader's API say")
struct UploaderHandlerTests {
    @Test("A path is one, or there is an error that says so")
    func paths() throws {
        #expect(try UploaderHandler.path("/a/b c/").names == ["a", "b c"])
        #expect(try UploaderHandler.path("").isRoot)
        for text in ["..", "a//b", "a/\0", ".duplex"] {
            let error = #expect(throws: FolderError.self) { try UploaderHandler.path(text) }
            #expect(error?.code == .badName)
        }
        let folder = try UploaderHandler.path("a")
        #expect(try UploaderHandler.path(folder, "b").text == "a/b")
        #expect(throws: FolderError.self) { try UploaderHandler.path(folder, "b/c") }
    }

    @Test("What happens to names that are taken is one of three, and nothing unless it is said")
    func clashes() throws {
        #expect(try UploaderHandler.conflict(nil) == .refuse)
        for conflict in NameConflict.allCases { #expect(try UploaderHandler.conflict(conflict.rawValue) == conflict) }
        let problem = #expect(throws: Problem.self) { try UploaderHandler.conflict("Refuse") }
        #expect(problem?.status == .badRequest)
    }

    @Test("An encoder and a decoder of the app's don't hold for the API")
    func ownJSON() async throws {
        try await withTestFolder { root in
            let folder = try SharedFolder(root)
            var server = WebServer(port: 0)
            server.use(
                .json {
                    Issue.record("The app's encoder is used.")
                    return JSONDefaults.makeEncoder()
                } decoder: {
                    Issue.record("The app's decoder is used.")
                    return JSONDefaults.makeDecoder()
                }
            )
            server.uploader("/files", folder: folder)
            try await server.test { client async throws in
                let headers: HTTPFields = [.contentType: "application/json"]
                let answer = try await client.post("/files/create", headers: headers, body: #"{"path":"a"}"#.utf8)
                #expect(answer.status == .ok, "\(answer.text)")
            }
        }
    }

    @Test("What the folder refuses is the problem that it is")
    func problems() async throws {
        try await UploaderFixture.run { uploader async throws in
            let handler = UploaderHandler(uploader.folder, UploaderOptions())
            let problem = await #expect(throws: Problem.self) {
                try await handler.answer { throw FolderError(.overQuota, "Full.") }
            }
            #expect(problem?.status.code == 507 && problem?.detail == "Full.")
        }
    }
}

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
