// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Testing

@testable import DuplexServer
@testable import DuplexSharing

/// Every duration of shared folders that an app sets: longer than zero, or an error before anything is done.
@Suite("Durations of shared folders", .timeLimit(minutes: 1))
struct DurationRuleTests {
    private static let refused: [Duration] = [.seconds(-1), .zero, .seconds(Int64.min)]

    @Test("A folder's trash and uploads have the rule")
    func folders() async throws {
        try await withTestFolder { folder in
            for time in Self.refused {
                var options = FolderOptions()
                options.trashAge = time
                if time < .zero {
                    let error = #expect(throws: SocketError.self) { _ = try SharedFolder(folder, options: options) }
                    #expect(error?.code == .invalidArgument)
                }
                var uploads = ResumableUploadOptions()
                uploads.lifetime = time
                var server = WebServer(port: 0)
                server.resumableUploads("/u", folder: try SharedFolder(folder), options: uploads)
                #expect(throws: RouteError.self) { _ = try server.table() }
            }
        }
    }
}
