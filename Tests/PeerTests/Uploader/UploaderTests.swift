// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Logging
import Testing

extension PeerTests {
    /// The uploader's page in a browser, with a folder on the disk.
    @Suite(.serialized) struct UploaderTests {
        private static func server(_ root: String) throws -> WebServer {
            var showing = UploaderOptions()
            showing.title = "Pictures & more"
            showing.footer = "Put yours here."
            var reading = FolderOptions()
            reading.access = { _ in .read }
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            server.uploader("/files", folder: try SharedFolder(root), options: showing)
            server.uploader("/reader", folder: try SharedFolder(root, options: reading))
            return server
        }

        /// Screenshots are written to the folder that the variable `SCREENSHOTS` names.
        private static var environment: [String: String] {
            let folder = ProcessInfo.processInfo.environment["SCREENSHOTS"]
            return Peer.environment.merging(folder.map { ["SCREENSHOTS": $0] } ?? [:]) { $1 }
        }

        @Test(
            "Chromium browses, uploads, resumes, renames, moves, deletes and undoes, with the mouse and by the keyboard alone",
            .timeLimit(minutes: 4)
        )
        func page() async throws {
            try await withTestFolder { root in
                try await Self.server(root).withRunning { try await Self.browse("http://\($0)", root) }
            }
        }

        @Test("It does where a proxy shows the page under another path", .timeLimit(minutes: 4))
        func proxied() async throws {
            try await withTestFolder { root in
                try await Self.server(root).withRunning { address in
                    try await Self.withProxy(to: address) { try await Self.browse("http://\($0)/under/another", root) }
                }
            }
        }

        private static func browse(_ url: String, _ root: String) async throws {
            let script = Peer.path("Tests/PeerTests/Peers/web_uploader.py")
            let command = [Peer.python, script, "\(url)/files/", root, "\(url)/reader/"]
            let output = try await PeerProcess.run(command, environment: Self.environment)
            let lines = output.split(separator: "\n")
            #expect(lines.count == 32 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
        }

        /// nginx, which has the server below another path.
        private static func withProxy(
            to server: SocketAddress,
            _ body: (SocketAddress) async throws -> Void
        ) async throws {
            try await withTestFolder { folder in
                let port = try ReservedPort()
                defer { withExtendedLifetime(port) {} }
                let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                    "\($0)_temp_path \(folder)\($0);"
                }
                let configuration = """
                    error_log stderr crit; pid \(folder)pid; worker_processes 1;
                    events { worker_connections 512; }
                    http {
                    \(paths.joined()) access_log off; client_max_body_size 8m;
                    server {
                        listen \(port.address);
                        location /under/another/ {
                            proxy_pass http://\(server)/;
                            proxy_http_version 1.1;
                            proxy_set_header Host $http_host;
                            proxy_set_header Connection "";
                        }
                    }
                    }
                    """
                try configuration.write(toFile: folder + "conf", atomically: true, encoding: .utf8)
                let nginx = try ForwardProxyTests.program("nginx")
                let script = "echo begins; exec \(nginx) -g 'daemon off;' -c \(folder)conf"
                try await PeerProcess.withRunning(["/bin/sh", "-c", script]) { peer, _ in
                    try await peer.waitForListener(at: port.address)
                    try await body(port.address)
                }
            }
        }

        @Test("tuspy finds its uploads where the relative Location says that they are")
        func resumed() async throws {
            try await withTestFolder { root in
                try await Self.server(root).withRunning { address in
                    try await TusClient.expectUploads(to: "http://\(address)/files/uploads", into: root, cuts: 5)
                }
            }
        }

        /// What is written in the article on the API, as it stands there.
        @Test("curl does all that the API does")
        func api() async throws {
            try await withTestFolder(["photos/a.jpg": "a"]) { root in
                try await Self.server(root).withRunning { address in
                    let files = "http://\(address)/files"
                    let json = "-H 'Content-Type: application/json'"
                    let script = """
                        set -e; cd '\(root)'; curl() { command curl -sS --fail-with-body "$@"; }
                        curl '\(files)/list?path=photos'
                        curl -OJ '\(files)/download?path=photos/a.jpg'; cat a.jpg
                        printf new > b.jpg; curl -F path=photos -F clash=number -F file=@b.jpg \(files)/upload
                        curl \(json) -d '{"path":"photos/2026"}' \(files)/create
                        curl \(json) -d '{"from":["photos/b.jpg"],"to":"photos/2026"}' \(files)/move
                        curl \(json) -d '{"paths":["photos/2026"]}' \(files)/delete
                        curl '\(files)/search?text=A.J'
                        curl '\(files)/zip?path=photos' | python3 -c '
                        import io, sys, zipfile
                        print(zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())).namelist())'
                        """
                    let output = try await PeerProcess.run(["/bin/sh", "-c", script], environment: Peer.environment)
                    for part in [
                        #""name":"a.jpg","size":1"#, #"{"path":"photos/b.jpg","replaced":false}"#,
                        #"{"path":"photos/2026","replaced":false}"#, #""path":"photos/2026/b.jpg","replaced":false"#,
                        #""path":"photos/2026"}]}"#, #""path":"a.jpg","size":1"#, "['photos/', 'photos/a.jpg']",
                    ] {
                        #expect(output.contains(part), "\(part) in \(output)")
                    }
                }
            }
        }
    }
}
#endif
