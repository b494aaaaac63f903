// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Testing

@testable import DuplexSockets

/// libproxy itself; what it makes of settings is seen by the command's tests, since it reads them once in a process.
@Suite struct ProxyLibraryTests {
    private static let isExpected = Integration.isOn || ProxyLibrary.shared != nil

    @Test(
        "It answers for a URL, from any thread, at the same time",
        .enabled(if: isExpected, "libproxy isn't installed")
    )
    func answers() async throws {
        let library = try #require(ProxyLibrary.shared)
        let threads = BlockingThreads(name: "proxies", limit: 4)
        try await withThrowingTaskGroup { group in
            for index in 0..<20 {
                group.addTask { try await threads.run { library.proxies(for: "http://host\(index).test:80/") } }
            }
            for try await proxies in group { #expect(!proxies.isEmpty && proxies.allSatisfy { $0.contains("://") }) }
        }
    }
}
