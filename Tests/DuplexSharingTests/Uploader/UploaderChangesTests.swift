// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("Events of changes, for the uploader", .timeLimit(minutes: 1))
struct UploaderChangesTests {
    /// A stream that is told of everything from now on.
    private static func stream(_ uploader: UploaderFixture) async throws -> TestEventStream {
        let stream = try await uploader.client.events("/files/changes")
        #expect(stream.head.status == .ok)
        _ = try await stream.next()
        return stream
    }

    /// The next event, while time goes on.
    private static func next(_ stream: TestEventStream, _ uploader: UploaderFixture) async throws -> String? {
        let clock = uploader.client.clock
        let time = Task {
            while !Task.isCancelled { await clock.advance(by: UploaderHandler.pause) }
        }
        defer { time.cancel() }
        return try await stream.nextData()
    }

    @Test("A change is told of at once, whoever makes it, by the folder that it is in")
    func tells() async throws {
        try await UploaderFixture.run(["a/b": "x"]) { uploader async throws in
            let stream = try await Self.stream(uploader)
            _ = try await uploader.change("create", "{'path':'a/c'}")
            #expect(try await stream.nextData() == #"{"path":"a"}"#)
            #expect(try await uploader.client.request(.put, "/dav/%C3%BC", body: Array("x".utf8)).status == .created)
            #expect(try await Self.next(stream, uploader) == #"{"path":""}"#)
            try await uploader.folder.move(try #require(FolderPath("a/b")), to: try #require(FolderPath("a/c/b")))
            // A move changes two folders, in no order.
            let both = [try await Self.next(stream, uploader), try await Self.next(stream, uploader)]
            #expect(Set(both) == [#"{"path":"a"}"#, #"{"path":"a/c"}"#])
        }
    }

    @Test("Several changes of a folder in a short time are one event")
    func coalesced() async throws {
        try await UploaderFixture.run { uploader async throws in
            let stream = try await Self.stream(uploader)
            _ = try await uploader.change("create", "{'path':'a'}")
            #expect(try await stream.nextData() == #"{"path":""}"#)
            for number in 0..<20 { _ = try await uploader.change("create", "{'path':'a/\(number)'}") }
            _ = try await uploader.change("create", "{'path':'b'}")
            #expect(try await Self.next(stream, uploader) == #"{"path":""}"#)
            #expect(try await Self.next(stream, uploader) == #"{"path":"a"}"#)
            _ = try await uploader.change("create", "{'path':'b/c'}")
            #expect(try await Self.next(stream, uploader) == #"{"path":"b"}"#)
        }
    }

    @Test("Who may not read isn't told, and nobody of what is hidden")
    func refused() async throws {
        try await UploaderFixture.run(folder: UploaderFixture.roles) { uploader async throws in
            #expect(try await uploader.client.events("/files/changes").head.status == .forbidden)
        }
        var options = FolderOptions()
        options.showsHidden = false
        try await UploaderFixture.run([".a/b": "x", "c/": ""], folder: options) { uploader async throws in
            let stream = try await Self.stream(uploader)
            let changes = FolderChanges()
            let number = uploader.folder.observe { changes.note($0) }
            defer { uploader.folder.removeObserver(number) }
            _ = try await uploader.change("create", "{'path':'c/d'}")
            #expect(try await stream.nextData() == #"{"path":"c"}"#)
            #expect(changes.take()?.map(\.text) == ["c"])
        }
    }
}
