// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire

// Events of changes.

extension UploaderHandler {
    /// Changes of a folder within so long are one event, but for the first.
    static let pause = Duration.milliseconds(200)

    /// Tells a client of each folder in which something changes, for as long as it stays.
    func sendChanges(_ stream: EventStream) async throws {
        let changes = FolderChanges()
        let number = folder.observe { [folder] path in if folder.shows(path) { changes.note(path) } }
        defer { folder.removeObserver(number) }
        // A client that sees this gets all later changes.
        try await stream.comment()
        for await _ in changes.signals {
            // A client that comes back looks at everything again.
            guard let paths = changes.take() else { return }
            for path in paths {
                let folder = UploaderAnswer.ChangedFolder(path: path.text)
                try await stream.send(try CompactJSON.text(of: folder), event: "change")
            }
            try await stream.request.client.sleep(for: Self.pause)
        }
    }
}
