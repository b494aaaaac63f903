// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Synchronization
import Testing

/// The library that reads the settings.
private enum Library {
    static let isInstalled =
        (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib"))?.contains { folder in
            FileManager.default.fileExists(atPath: "/usr/lib/\(folder)/libproxy.so.1")
        } == true
}

/// The command with GNOME's settings, which libproxy reads from a file of the test's.
@Suite("The desktop's proxy", .enabled(if: Integration.isOn || Library.isInstalled, "libproxy isn't installed"))
struct SystemProxyTests {
    /// Connects by way of what the settings say to a proxy that is a listener of the test's.
    private func expectProxy(settings: (Int) -> String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "duplex-settings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let place = folder.appending(path: "glib-2.0/settings")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let text = settings(listener.localAddress.port)
        try text.write(to: place.appending(path: "keyfile"), atomically: true, encoding: .utf8)
        let variables = [
            "DESKTOP_SESSION": "gnome", "XDG_CURRENT_DESKTOP": "GNOME", "GSETTINGS_BACKEND": "keyfile",
            "XDG_CONFIG_HOME": folder.path(percentEncoded: false),
        ]
        let arguments = ["connect", "tcp://nowhere.invalid:25", "-x", "hello", "--proxy", "system"]
        let command = try RunningCommand(arguments, variables: variables)
        // A command that ends without having come leaves nobody to wait for.
        async let result = { () async throws -> CommandResult in
            let result = try await command.finish()
            await listener.close()
            return result
        }()
        var iterator = listener.makeAsyncIterator()
        guard let peer = try await iterator.next() else {
            Issue.record("The command didn't come to the proxy: \(try await result)")
            return
        }
        #expect(try await peer.readLine() == "CONNECT nowhere.invalid:25 HTTP/1.1")
        while try await peer.readLine()?.isEmpty == false {}
        try await peer.write("HTTP/1.1 200 OK\r\n\r\n")
        #expect(try await peer.readLine() == "hello")
        try await peer.write("there\n")
        #expect(try await result == CommandResult(status: 0, output: "there\n", errors: ""))
        await peer.close()
        await listener.close()
    }

    @Test("A proxy that somebody has entered", .timeLimit(minutes: 1))
    func entered() async throws {
        try await expectProxy { port in
            "[system/proxy]\nmode='manual'\n[system/proxy/http]\nhost='127.0.0.1'\nport=\(port)\n"
        }
    }

    @Test(
        "A script is fetched and run, and the next of its proxies asked when one isn't there",
        .timeLimit(minutes: 1)
    )
    func script() async throws {
        let reserved = try ReservedPort()
        var server = WebServer(host: "127.0.0.1", port: 0)
        let port = Mutex(0)
        server.get("/proxy.pac") { _ in
            let ways = "PROXY 127.0.0.1:\(reserved.address.port); PROXY 127.0.0.1:\(port.withLock { $0 })"
            let script =
                "function FindProxyForURL(url, host) { return host == 'nowhere.invalid' ? '\(ways)' : 'DIRECT'; }"
            return Response.text(script)
        }
        try await server.withRunning { address in
            try await expectProxy { proxy in
                port.withLock { $0 = proxy }
                return "[system/proxy]\nmode='auto'\nautoconfig-url='http://127.0.0.1:\(address.port)/proxy.pac'\n"
            }
        }
        withExtendedLifetime(reserved) {}
    }
}
#endif
