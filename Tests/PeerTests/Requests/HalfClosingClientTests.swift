// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

/// Programs that end their sending side once their input has ended, and print what comes until the server ends its own.
@Suite(.serialized, .timeLimit(minutes: 2)) struct HalfClosingClientTests {
    enum Program: String, CaseIterable, CustomTestStringConvertible {
        case netcat = "nc.openbsd -N 127.0.0.1 PORT"
        case ncat = "ncat 127.0.0.1 PORT"
        case socat = "socat -t 60 - TCP:127.0.0.1:PORT"
        /// Says so by TLS: close_notify.
        case securedSocat = "socat -t 60 - OPENSSL:127.0.0.1:PORT,verify=0"

        var testDescription: String { rawValue }
    }

    @Test("Each makes changes in a shared folder, and is told what was done", arguments: Program.allCases)
    func changes(program: Program) async throws {
        let steps = [
            "PUT /dav/a.txt HTTP/1.0\\r\\nContent-Length: 5\\r\\n\\r\\nhello", "MKCOL /dav/f HTTP/1.0\\r\\n\\r\\n",
            "MOVE /dav/a.txt HTTP/1.1\\r\\nHost: a\\r\\nDestination: /dav/f/b.txt\\r\\n\\r\\n",
            "GET /dav/f/b.txt HTTP/1.0\\r\\n\\r\\n", "DELETE /dav/f HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        ]
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        try await withTestFolder(["shared/": ""]) { folder in
            let shared = try SharedFolder(folder + "shared")
            try await withServer { server in
                if program == .securedSocat { server.tls = TLSServerOptions.patient(identity) }
                server.webDAV("/dav", folder: shared)
            } _: { address in
                let command = program.rawValue.replacing("PORT", with: "\(address.port)")
                for _ in 0..<5 {
                    var statuses: [String] = []
                    for step in steps {
                        let text = try await PeerProcess.run(["/bin/sh", "-c", "printf '\(step)' | \(command)"])
                        statuses.append(String(text.prefix(12).suffix(3)))
                        if step.hasPrefix("GET") { #expect(text.contains("\r\nhello\n"), "\(text)") }
                    }
                    #expect(statuses == ["201", "201", "201", "200", "204"])
                }
            }
        }
    }
}
#endif
