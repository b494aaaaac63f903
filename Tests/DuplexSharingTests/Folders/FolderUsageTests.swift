// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite struct FolderUsageTests {
    @Test("It is counted at first, then added to, and counted anew after a minute or when something has gone")
    func counting() async throws {
        try await withTestFolder(["a": "12345"]) { root in
            let usage = FolderUsage(root: try FolderStore(path: root).root)
            let start = Instant.now()
            #expect(try usage.bytes(at: start) == 5)
            usage.add(10)
            try "123".write(toFile: root + "b", atomically: true, encoding: .utf8)
            #expect(try usage.bytes(at: start.advanced(by: .seconds(59))) == 15)
            #expect(try usage.bytes(at: start.advanced(by: .seconds(60))) == 8)
            usage.add(10)
            usage.forget()
            #expect(try usage.bytes(at: start.advanced(by: .seconds(61))) == 8)
        }
    }

    @Test("A quota holds for what is written and copied, with the trash in it")
    func quota() async throws {
        try await withTestFolder(["a": "1234567890"]) { root in
            var options = FolderOptions()
            options.quota = .bytes(25)
            let folder = try SharedFolder(root, options: options)
            let (a, b, c) = (FolderPath("a")!, FolderPath("b")!, FolderPath("c")!)
            #expect(try await folder.space() == FolderSpace(used: 10, free: 15, quota: 25))
            try await folder.copy(a, to: b)
            let error = await #expect(throws: FolderError.self) { try await folder.copy(a, to: c) }
            #expect(error?.code == .overQuota)
            try await folder.moveToTrash(b)
            let still = await #expect(throws: FolderError.self) {
                _ = try await folder.upload(to: c, onConflict: .refuse, size: 6, by: .app)
            }
            #expect(still?.code == .overQuota)
            try await folder.emptyTrash()
            let upload = try await folder.upload(to: c, onConflict: .refuse, size: nil, by: .app)
            try await upload.write([UInt8](repeating: 1, count: 15))
            _ = try await upload.finish()
            #expect(try await folder.space().free == 0)
            let more = try await folder.upload(to: b, onConflict: .refuse, size: nil, by: .app)
            try await more.write([1])
            let full = await #expect(throws: FolderError.self) { _ = try await more.finish() }
            #expect(full?.code == .overQuota)
        }
    }
}
