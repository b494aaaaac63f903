// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexCommand

@Suite("The limit of descriptors", .timeLimit(minutes: 1))
struct DescriptorLimitTests {
    @Test("It is raised as far as the system lets it, and raising it again changes nothing")
    func raising() async {
        // Limits are the process's, so it is another process whose limit is changed.
        await #expect(processExitsWith: .success) {
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            try #require(unsafe getrlimit(resource, &limit) == 0)
            let most = limit.rlim_max
            limit.rlim_cur = 64
            try #require(unsafe setrlimit(resource, &limit) == 0)
            for _ in 0..<2 {
                #expect(DescriptorLimit.raise() == UInt64(most))
                try #require(unsafe getrlimit(resource, &limit) == 0)
                #expect(limit.rlim_cur == most)
                #expect(limit.rlim_max == most)
            }
        }
    }

    @Test("Serving and loading begin by raising it: more connections than the limit was are no failure")
    func commands() async throws {
        try await withServeCommand(descriptors: 48) { authority in
            let options = ["--connections", "60", "--duration", "1ms", "--warmup", "0s"]
            let bench = try RunningCommand(["bench", "ws://\(authority)/"] + options, descriptors: 48)
            let result = try await bench.finish()
            #expect(result.status == 0)
            #expect(result.errors == "")
        }
    }
}
