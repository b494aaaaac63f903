// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexInspector

extension PeerTests {
    /// What curl makes of the command lines that the inspector writes.
    @Suite struct CurlReaderTests {
        @Test(
            "It makes the same request again: method, target, fields and body",
            .timeLimit(minutes: 1),
            arguments: [
                ("POST", Array("plain".utf8)), ("PUT", Array(0...255)),
                ("PATCH", Array("'; exit 3; '$(exit 4)`exit 5`@/etc/passwd".utf8)),
                ("DELETE", []), ("POST", Array("a\nb\r\n%s\\n".utf8)),
                ("POST", [UInt8](repeating: 0x27, count: 100_000)),
            ]
        )
        func requests(method: String, body: [UInt8]) async throws {
            let seen = Mutex<[(String, HTTPFields, [UInt8])]>([])
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.use(
                .before { request async throws in
                    let body = try await request.body.collect()
                    seen.withLock {
                        $0.append(("\(request.method.rawValue) \(request.head.target)", request.headers, body))
                    }
                    return Response.text("ok")
                }
            )
            let headers: HTTPFields = [
                .userAgent: "it's $HOME \"quoted\"", .contentType: "application/x-test", .cookie: "a=1; b={2}",
            ]
            try await server.withRunning { address in
                var exchange = RecordedExchange(
                    id: 1,
                    began: 0,
                    method: method,
                    url: "http://\(address)/a/../b?x={1,2}&y=[1-3]&z='%20'"
                )
                exchange.requestHeaders = headers
                exchange.requestBody = RecordedBytes(body)
                let command = try #require(CurlCommand(exchange))
                // In a file, for an argument has at most 128 KiB.
                let script = command.text + " --silent --show-error --fail"
                _ = try await withTestFolder(["script": script]) { folder in
                    try await PeerProcess.run(["/bin/sh", folder + "script"])
                }
                let (line, received, bytes) = try #require(seen.withLock { $0.first })
                #expect(line == "\(method) /a/../b?x={1,2}&y=[1-3]&z='%20'")
                #expect(bytes == body)
                for field in headers { #expect(received[values: field.name] == [field.value]) }
                #expect(!received.contains(.accept))
            }
        }
    }
}
