// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Testing

/// Clients of WebDAV that others wrote: the same tree comes back from each.
@Suite(.serialized, .timeLimit(minutes: 5)) struct WebDAVClientTests {
    @Test("rclone copies, syncs and checks a tree of a thousand files")
    func rclone() async throws {
        try await DAVShare.run { share async throws in
            try share.makeTree("tree", files: 1_000)
            let environment = [
                "RCLONE_CONFIG": "/dev/null", "RCLONE_CONFIG_DAV_TYPE": "webdav", "RCLONE_CONFIG_DAV_URL": share.url,
                "RCLONE_CONFIG_DAV_VENDOR": "other",
            ]
            func rclone(_ command: String) async throws -> String {
                try await share.shell(
                    "rclone --retries 1 --low-level-retries 1 \(command) 2>&1",
                    environment: environment
                )
            }
            _ = try await rclone("copy tree dav:tree")
            #expect(try await share.difference("tree", share.root + "tree") == "")
            #expect(try await rclone("check --download tree dav:tree").contains("0 differences found"))
            _ = try await rclone("copy dav:tree back")
            #expect(try await share.difference("tree", "back") == "")
            // Some go, some change, some are new.
            try await share.shell(
                "rm -r 'tree/3'; for f in tree/1/*/*; do printf more >> \"$f\"; done; cp -r tree/5 tree/9"
            )
            _ = try await rclone("sync tree dav:tree")
            #expect(try await share.difference("tree", share.root + "tree") == "")
            _ = try await rclone("moveto dav:tree dav:moved")
            #expect(try await share.difference("tree", share.root + "moved") == "")
            _ = try await rclone("purge dav:moved")
            #expect(try await share.shell("ls '\(share.root)'") == "")
        }
    }

    @Test("cadaver puts, gets, copies, moves, locks and sets properties")
    func cadaver() async throws {
        try await DAVShare.run { share async throws in
            let commands = """
                mkcol f
                cd f
                put a.txt b.txt
                propset b.txt note seven
                propget b.txt note
                lock b.txt
                put a.txt b.txt
                discover b.txt
                unlock b.txt
                copy b.txt c.txt
                move c.txt d.txt
                get d.txt back.txt
                delete b.txt
                ls
                quit

                """
            try await share.shell("printf 'Hello' > a.txt; cat > commands <<'E'\n\(commands)E")
            let output = try await share.shell("HOME=. cadaver \(share.url) < commands 2>&1")
            #expect(!output.contains("failed") && output.contains("seven") && output.contains("d.txt"), "\(output)")
            #expect(try await share.shell("cat back.txt; ls '\(share.root)f'") == "Hellod.txt\n")
        }
    }

    @Test("curl puts a file in chunks, a long one, and gets what it has put")
    func curl() async throws {
        try await DAVShare.run { share async throws in
            let script = """
                head -c 20000000 /dev/urandom > long
                curl -sf -T long \(share.url)long
                cat long | curl -sf -T - \(share.url)chunked
                curl -sf \(share.url)long | cmp - long
                curl -sf \(share.url)chunked | cmp - long
                curl -sf -X MKCOL \(share.url)f
                curl -sf -X MOVE -H 'Destination: \(share.url)f/long' \(share.url)long
                curl -sf -r 1000-1999 \(share.url)f/long > part
                tail -c +1001 long | head -c 1000 | cmp - part
                curl -sf -X PROPFIND -H 'Depth: 1' \(share.url)
                """
            let output = try await share.shell(script)
            #expect(output.contains("<D:href>/dav/f/</D:href>") && output.contains("<D:href>/dav/chunked</D:href>"))
        }
    }

    @Test("webdav4 for Python takes a tree there and back")
    func webdav4() async throws {
        try await DAVShare.run { share async throws in
            // It sends these as they are.
            try share.makeTree("tree", files: 100, marks: "")
            let script = Peer.path("Tests/PeerTests/Peers/dav_client.py")
            let command = [Peer.python, script, share.url, share.local]
            #expect(try await PeerProcess.run(command, environment: Peer.environment) == "ok\n")
            #expect(try await share.difference("tree", share.root + "tree") == "")
            #expect(try await share.difference("tree", "back") == "")
        }
    }
}
