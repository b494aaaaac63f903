// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

@Suite("Long files by WebDAV", .timeLimit(minutes: 2))
struct LongFileTests {
    @Test("A long file goes there and comes back, and is never held whole")
    func streams() async throws {
        try await withTestFolder(["shared/": "", "local/": ""]) { root in
            let server = try await ServerProcess(sharing: root + "shared")
            let before = try server.peakMemory()
            let script = """
                set -e
                cd "$1"
                truncate -s 64M long
                curl -sf -T long "$2/one"
                curl -sf -T - "$2/two" < long
                curl -sf -X COPY -H "Destination: $2/three" "$2/two"
                curl -sf "$2/one" | cmp - long
                curl -sf "$2/three" | cmp - long
                """
            let url = "http://\(server.address)/dav"
            let run = try await ProgramRun("/bin/sh", "-c", script, "sh", root + "local", url)
            #expect(run.status == 0, "\(run.text)")
            let growth = try server.peakMemory() - before
            // With a sanitizer memory is given back late.
            #expect(growth < 32 << 20 || Sanitizer.isPresent, "\(growth >> 20) MiB")
            await server.kill()
        }
    }
}
