// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexSockets

@Suite struct ResolverConfigurationFileTests {
    @Test("A file is read, and one that isn't there counts as empty")
    func reading() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "duplex-resolv-\(UUID())")
        let path = file.path(percentEncoded: false)
        #expect(try ResolverConfiguration.system(path: path) == ResolverConfiguration())
        try Data("nameserver 192.0.2.1\nsearch example.org\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let configuration = try ResolverConfiguration.system(path: path)
        #expect(configuration.servers.map(\.description) == ["192.0.2.1:53"])
        #expect(configuration.searchDomains == ["example.org"])
    }

    @Test("What can't be read is an error that says what, and leaves nothing open")
    func unreadable() {
        let folder = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        #expect { try ResolverConfiguration.system(path: folder) } throws: { error in
            let error = error as? SocketError
            return error?.code == .system && error?.errno == EISDIR && error?.message.contains(folder) == true
        }
    }

    @Test("Of a file without an end only the beginning is read")
    func endless() throws {
        #expect(try ResolverConfiguration.system(path: "/dev/zero") == ResolverConfiguration())
    }

    @Test("The system's own can be read")
    func system() throws {
        #expect(try !ResolverConfiguration.system().servers.isEmpty)
    }
}
