// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder that is to be shared, with links that lead out of it, pipes and devices in it, and canaries around it: files that
/// nobody may read, change or name.
package struct HostileFolder: Sendable {
    /// What is to be shared, with a slash at its end.
    package let root: String
    /// What it lies in, some folders further up.
    private let base: String
    /// What stands in each canary.
    private let canary: String

    /// Where the paths of ``HostileNames`` would write, if one of them led there.
    private static let escapes = [
        "/duplex-escape", "/tmp/duplex-escape", "/etc/duplex-escape", NSTemporaryDirectory() + "duplex-escape",
    ]

    /// Pairs: two of them are the same text in other bytes.
    private static let files: [(path: String, text: String)] = [
        ("file.txt", "a file"), ("folder/inner.txt", "an inner file"), ("folder/.hidden", "hidden"), (".env", "hidden"),
        ("\u{E9}", "composed"), ("e\u{301}", "decomposed"), (String(repeating: "n", count: 255), "a long name"),
        ("-rf", "a name"),
    ]

    private var links: [String: String] {
        [
            "link-file": "file.txt", "link-folder": "folder", "out-file": "../canary.txt", "out-folder": "../out",
            "absolute-file": base + "a/b/canary.txt", "absolute-folder": base + "a/b/out", "etc": "/etc", "top": "/",
            "process": "/proc/self/root", "descriptors": "/proc/self/fd", "environment": "/proc/self/environ",
            "dangling": "nowhere", "dangling-out": "../duplex-escape", "loop": "loop", "loop-a": "loop-b",
            "loop-b": "loop-a",
            "up": "..", "self": ".", "chain": "link-folder/../out-folder", "round": "folder/../..",
            "folder/link-up": "../..",
        ]
    }

    /// Runs the body with such a folder, and removes all of it.
    ///
    /// - Parameter body: gets the folder.
    /// - Throws: what the body throws, and when it can't be made.
    package static func run(_ body: (HostileFolder) async throws -> Void) async throws {
        let mark = UUID().uuidString
        let base = NSTemporaryDirectory() + "duplex-hostile-\(mark)/"
        defer { try? FileManager.default.removeItem(atPath: base) }
        let folder = HostileFolder(root: base + "a/b/shared/", base: base, canary: "CANARY-\(mark)")
        try folder.makeOutside()
        try folder.makeInside()
        try await body(folder)
    }

    private func makeOutside() throws {
        for folder in ["", "a/", "a/b/", "a/b/out/", "a/b/out/sub/"] {
            try FileManager.default.createDirectory(atPath: base + folder, withIntermediateDirectories: true)
            for name in ["canary.txt", "secret.txt", "deep.txt"] {
                try write("\(canary) \(folder)\(name)", to: folder + name)
            }
        }
        try write(canary, to: "a/b/shared-beside")
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: base + path))
    }

    /// Makes again what is missing of what was in the folder at first.
    package func makeInside() throws {
        for (path, text) in Self.files {
            let parent = (root + path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            if kind(path) == S_IFREG, FileManager.default.contents(atPath: root + path) == Data(text.utf8) { continue }
            try? FileManager.default.removeItem(atPath: root + path)
            try Data(text.utf8).write(to: URL(fileURLWithPath: root + path))
        }
        for (path, destination) in links where kind(path) != S_IFLNK {
            try? FileManager.default.removeItem(atPath: root + path)
            try FileManager.default.createSymbolicLink(atPath: root + path, withDestinationPath: destination)
        }
        makeSpecial("pipe", S_IFIFO) { unsafe mkfifo($0, 0o600) }
        makeSpecial("socket", S_IFSOCK) { unsafe mknod($0, S_IFSOCK | 0o600, 0) }
        // /dev/zero, for those who may: it never ends.
        makeSpecial("device", S_IFCHR) { unsafe mknod($0, S_IFCHR | 0o666, 0x105) }
        // A name that is no text.
        let path = root.utf8.map { CChar(bitPattern: $0) } + [CChar(bitPattern: 0xFF), 0]
        let opened = unsafe creat(path, 0o600)
        if opened >= 0 { close(opened) }
    }

    private func kind(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(root + path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private func makeSpecial(_ name: String, _ kind: mode_t, _ make: (String) -> Int32) {
        if self.kind(name) == kind { return }
        try? FileManager.default.removeItem(atPath: root + name)
        _ = make(root + name)
    }

    // MARK: What was done to it

    /// All that is around it: names, kinds, sizes, times and contents.
    package func outside() throws -> [String: String] {
        var found: [String: String] = [:]
        let paths = try FileManager.default.subpathsOfDirectory(atPath: base).filter { path in
            path != "a/b/shared" && !path.utf8.starts(with: "a/b/shared/".utf8)
        }
        for path in paths + Self.escapes.map({ "!" + $0 }) {
            let place = path.hasPrefix("!") ? String(path.dropFirst()) : base + path
            var status = stat()
            guard unsafe lstat(place, &status) == 0 else { continue }
            let content = FileManager.default.contents(atPath: place).map { String(decoding: $0, as: UTF8.self) } ?? ""
            // The folder that the shared one lies in is read, and nothing more.
            let moment = status.st_mtim
            found[path] =
                "\(status.st_mode) \(status.st_ino) \(status.st_size) \(moment.tv_sec).\(moment.tv_nsec) \(content)"
        }
        return found
    }

    /// What of the outside is said in a response: the content of a canary, or where something is on this machine.
    package func leak(in bytes: some Collection<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        let secrets = [canary, base, "root:x:0:0", "PATH=", String(base.dropLast())]
        return secrets.first { text.utf8.count >= $0.utf8.count && text.contains($0) }
    }
}
