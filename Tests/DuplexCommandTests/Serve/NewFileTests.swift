// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexCommand

@Suite("New files")
struct NewFileTests {
    @Test("A file that is there stays, unless it is to be replaced")
    func replacing() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "file"
            try NewFile.write("one", to: path, permissions: 0o600, replaces: false)
            #expect(throws: Failure.self) { try NewFile.write("two", to: path, permissions: 0o600, replaces: false) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "one")
            try NewFile.write("three", to: path, permissions: 0o640, replaces: true)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "three")
        }
    }

    @Test("A folder that isn't there is an error")
    func noFolder() {
        #expect(throws: Failure.self) { try NewFile.write("", to: "/nowhere/file", permissions: 0o600, replaces: true) }
    }
}
